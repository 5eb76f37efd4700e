// Made from the types of Rust. What is made there is not edited here.
//
// Foldline 0.1.0. /api/sessions is an array of ListedSession (at most `limit`, after the first `offset`; the header X-Total-Count is the number of all, and Link leads to the next part), /api/sessions/ID is a Conversation, /api/sessions/ID/patches streams a Conversation (snapshot) and then each ConversationPatch (patch). The header Foldline-Schema-Version is the version of these types, as in the $id. A refusal is {"error": string}.

/** The action of a tool call. Serialised with the tag `action`.
 *
 * `result` is the tool's result; it is absent while the call is open. */
export type ActionType =
/** Reads a file, or lists a directory. */
| {
  action: "file_read";
  /** Relative to the session's directory if it is inside it. */
  path: string;
  /** The content. */
  result?: ToolResult | null;
}
/** Creates, changes, moves or deletes files. */
| {
  action: "file_edit";
  /** Every change, in the order of the call. */
  changes: FileChange[];
  /** The first changed file. */
  path: string;
  /** The tool's message. */
  result?: ToolResult | null;
}
/** Runs a command. */
| {
  action: "command_run";
  /** The command line. */
  command: string;
  /** Its exit status and output. */
  result?: CommandRunResult | null;
}
/** Searches files, their names, or the web. */
| {
  action: "search";
  /** The pattern or query. */
  query: string;
  /** The matches. */
  result?: ToolResult | null;
}
/** Fetches from the web. */
| {
  action: "web_fetch";
  /** The content. */
  result?: ToolResult | null;
  /** The address. */
  url: string;
}
/** Reads or writes the agent's to-do list. */
| {
  action: "todo_management";
  /** `write`, `update` or `read`. */
  operation: string;
  /** The tool's message. */
  result?: ToolResult | null;
  /** The list after the call. */
  todos: TodoItem[];
}
/** Delegates work to a sub-agent. */
| {
  action: "task_create";
  /** A short description of the work. */
  description: string;
  /** The prompt. */
  prompt?: string | null;
  /** Its answer. */
  result?: ToolResult | null;
  /** The type of the agent. */
  subagent_type?: string | null;
}
/** Presents a plan for approval. */
| {
  action: "plan_presentation";
  /** The plan, usually Markdown. */
  plan: string;
  /** The user's answer. */
  result?: ToolResult | null;
}
/** Asks the user questions. */
| {
  action: "question";
  /** The questions. */
  questions: string[];
  /** The user's answers. */
  result?: ToolResult | null;
}
/** Any other tool, including MCP tools, with its arguments. */
| {
  action: "tool";
  /** Its arguments. */
  arguments?: unknown;
  /** Its result. */
  result?: ToolResult | null;
  /** Its name, exactly as in the log. */
  tool_name: string;
};

/** What an agent may do without asking a person, in one vocabulary for all agents, from the least to the most. */
export type Allowed =
/** It reads, and may change nothing. */
| "reading"
/** It reads, and asks before it changes something or runs a command. */
| "asking"
/** It edits files, and asks before it runs a command. */
| "edits"
/** It does anything within a sandbox. */
| "sandbox"
/** A policy or a model decides about what it asks. */
| "policy"
/** It does anything. */
| "everything";

/** What an agent may do without asking a person, as its log states it. A later statement replaces an earlier one as a
 * whole. Fields may be added: end a literal with `..Authority::default()`. */
export type Authority = {
  /** What these allow, in one vocabulary; `None` if unmapped. */
  allowed?: Allowed | null;
  /** When the agent asks, in its own words: `never`, `on-request`. */
  approval_policy?: string | null;
  /** The permission mode, in the agent's own words: `acceptEdits`, `yolo`, `auto-low`. */
  permission_mode?: string | null;
  /** The sandbox of its commands, in its own words: `read-only`, `workspace-write`, `danger-full-access`. */
  sandbox?: string | null;
  /** The time at which the log states this, if it does. Some logs state it only by the position of the record. */
  since?: Timestamp | null;
};

/** The exit status of a command. Serialised with the tag `type`. */
export type CommandExitStatus =
/** The log states the exit code. */
| {
  /** 0 means success. */
  code: number;
  type: "exit_code";
}
/** The log states only success or failure. */
| {
  /** Whether it succeeded. */
  success: boolean;
  type: "success";
};

/** The exit status and output of a command. */
export type CommandRunResult = {
  /** The exit status, if the log states it. */
  exit_status: CommandExitStatus | null;
  /** Standard output and error, as seen by the agent. */
  output: string | null;
};

/** The whole conversation: the result of applying the patches of a `PatchEmitter` in order to
 * `Conversation::default`, `{"entries":[]}`.
 *
 * It can be stored with serde at any time, and continued from there. While entries are open, the stored document has
 * an additional root key `open` with their correlation ids and indices. */
export type Conversation = {
  /** The entries, each wrapped as `{"type":"NORMALIZED_ENTRY","content":{..}}` when serialised. */
  entries: EntrySlot[];
  /** The indices of entries that still grow or await a result. */
  open?: { [name: string]: number };
  /** The session's facts, each with its latest value. */
  session?: Session | null;
  /** The total usage. */
  usage?: TokenUsage | null;
  /** The number of warnings of each kind. */
  warnings?: { [name: string]: number };
};

/** An event of a conversation. Executors produce events, emitters read them, and there is no other connection between
 * the two. Serialised as `{"event": "new_entry", "data": {..}}`.
 *
 * An event says *what* happened, never *where it is displayed*: entries have no index here. An entry is shared, so
 * that a consumer may keep it without copying it. */
export type DomainEvent =
/** Facts about the session, which extend or replace earlier ones. Facts also state the end of a session (outcome,
 * turns, duration), and more events may follow. */
| {
  data: Session;
  event: "session";
}
/** A new complete entry. */
| {
  data: {
    /** The entry. */
    entry: NormalizedEntry;
  };
  event: "new_entry";
}
/** A new entry that grows until it is closed under the same id. */
| {
  data: {
    /** The id under which the entry grows. */
    corr_id: string;
    /** The first state of the entry. */
    entry: NormalizedEntry;
  };
  event: "open_entry";
}
/** Text is appended to an open entry. */
| {
  data: {
    /** The id under which the entry was opened. */
    corr_id: string;
    /** The appended text. */
    text: string;
  };
  event: "grow_entry";
}
/** An open entry is complete. */
| {
  data: {
    /** The id under which the entry was opened. */
    corr_id: string;
    /** The whole entry, if it replaces the text so far. */
    entry: NormalizedEntry | null;
  };
  event: "close_entry";
}
/** A tool was called. */
| {
  data: {
    /** The call's id, as stated in the log. */
    corr_id: string;
    /** The call; its type is always `NormalizedEntryType::ToolUse`. */
    entry: NormalizedEntry;
  };
  event: "new_tool_call";
}
/** A tool call was updated or ended; see its status. */
| {
  data: {
    /** The call's id. */
    corr_id: string;
    /** The whole call in its current state, so that a consumer does not have to remember it. */
    entry: NormalizedEntry;
  };
  event: "update_tool_call";
}
/** Tokens that were used in addition to those reported before: consumers sum them. */
| {
  data: {
    /** The message that used the tokens, if other logs may report it under the same id: the file of a resumed
     * session, or a sub-agent's file. A message that several logs report counts once. An id that begins with
     * `OF_THREAD` is that of the same message only in a session and its forks;
     * one with `OF_WINDOW` states the cost of a time. */
    message_id?: string | null;
    /** The model, if the log states it. */
    model: string | null;
    /** The time of use, if the log states it. If a log states tokens as a total, for instance at the end of a
     * run, this is the latest possible time. */
    timestamp?: Timestamp | null;
    /** The tokens and the cost. */
    usage: TokenUsage;
  };
  event: "usage";
}
/** Something in the log is invalid or unknown. */
| {
  data: Warning;
  event: "warning";
}
/** No more events of this session follow: the log has ended, or has not mentioned the session for a long time.
 * Its outcome, if the log states it, is a fact of `Session`. */
| {
  event: "session_ended";
};

/** An entry in the form of documents and patches: `{"type":"NORMALIZED_ENTRY","content":{..}}`. */
export type EntrySlot = {
  content: NormalizedEntry;
  type: SlotType;
};

/** One change of one file. Serialised with the tag `action`. */
export type FileChange =
/** The whole file is written. */
| {
  action: "write";
  /** The new content. */
  content: string;
  /** The file. */
  path: string;
}
/** Parts of the file are changed. */
| {
  action: "edit";
  /** Whether the line numbers refer to the file, and not to the excerpt in the log. */
  has_line_numbers: boolean;
  /** The file. */
  path: string;
  /** The change in unified format, beginning with its first `@@` line. */
  unified_diff: string;
}
/** The file is deleted. */
| {
  action: "delete";
  /** The file. */
  path: string;
}
/** The file is renamed. */
| {
  action: "rename";
  /** Its new name. */
  new_path: string;
  /** Its old name. */
  path: string;
};

/** A picture of an entry. Serialised in camelCase.
 *
 * Its content is kept if it contains pixels and no program: PNG, JPEG, GIF and WebP. The kind is read from the
 * content, whatever the log calls it. */
export type Image = {
  /** The content in base64, without white space. Absent if it is not in the log, of another kind, or too long. */
  data?: string | null;
  /** The media type of the content, such as `image/png`; without content, as the log states it. */
  mediaType: string;
  /** The place of the text that stands for the picture, in bytes of the decoded text: of the result of a call, of the
   * content of any other entry. Absent if no text stands for it. */
  placeholder?: Range_of_uint | null;
};

/** A reading of a limit of the account, as a log states it. It is about all sessions of the account, and holds until its
 * window ends. Fields may be added: end a literal with `..Limit::default()`. */
export type Limit = {
  /** The time at which this is stated. */
  at?: Timestamp | null;
  /** The window, as the log names it: `primary`, `five_hour`. The name of a limit that is not of the whole account is
   * before it: `codex_other/primary`. */
  name: string;
  /** The end of the window, after which the reading is outdated. */
  resets_at?: Timestamp | null;
  /** The used part in percent, which may exceed 100; finite. */
  used_percent: number;
  /** The length of the window in minutes. */
  window_minutes?: number | null;
};

/** One session of the list. Moments are milliseconds since 1970. */
export type ListedSession = {
  /** Without pauses of over five minutes. */
  active_ms: number | null;
  agent: string | null;
  /** The number of its sub-agents, and of theirs. All sums of the session are also theirs. */
  agents: number;
  began: number | null;
  /** The basis of the cost: `logged`, `estimated`, or `mixed`. */
  cost_basis: string | null;
  /** In US dollars; estimated if the log does not state it. */
  cost_usd: number | null;
  /** The folder that the agent worked in. */
  cwd: string | null;
  duration_ms: number | null;
  ended: number | null;
  /** Failed calls. */
  failures: number;
  model: string | null;
  /** The path of its page; below `/api`, that of its conversation. */
  path: string;
  /** The root of the repository that the session worked in, else its folder. */
  project: string | null;
  /** The relation to the session that it was started from: `sub_agent`, `fork` or `continuation`. */
  relation: string | null;
  /** The agent's own id of the session. */
  session: string | null;
  status: Status;
  /** Its title, or else its first prompt. */
  title: string | null;
  /** Input and output. */
  tokens: number | null;
  /** The path of the session that it is a part of. */
  whole: string | null;
  /** When its log was last written. */
  written: number | null;
};

/** An event of a log, with the position of the record that caused it. */
export type LocatedEvent = DomainEvent & {
  position: Position;
  session: SessionKey;
};

/** Metadata of an entry. Serialised in camelCase, without absent fields. */
export type Metadata = {
  /** The agent's id of the session that this call started, if the log states it: the session of a sub-agent. */
  childSessionId?: string | null;
  /** The correlation id. Every tool call has one, so that the entry of a late result can be found in a
   * stored conversation. */
  corrId?: string | null;
  /** Further fields of the log, under their original names. */
  extra?: { [name: string]: unknown };
  /** The pictures in the content or in the result of the call, in order. */
  images?: Image[];
  /** The result named no call, and was assigned to this one, the oldest matching call. */
  inferred?: boolean;
  /** The id of the model's message that contains this entry. */
  messageId?: string | null;
  /** The model that produced this entry, if the log states it for the entry itself. */
  model?: string | null;
  /** The call that started the sub-agent that produced this entry. */
  parentCorrId?: string | null;
};

/** One entry of a conversation. */
export type NormalizedEntry = {
  /** Its text: the message, or for a tool call a short title such as a path or a command. */
  content: string;
  /** The type of the entry. */
  entry_type: NormalizedEntryType;
  /** Further data. */
  metadata: Metadata | null;
  /** The time of the message, or of the start of the call, in milliseconds since 1970, if the log states it. */
  timestamp: Timestamp | null;
};

/** The type of an entry. Serialised with the tag `type`. */
export type NormalizedEntryType =
/** A message of the user. */
| {
  type: "user_message";
}
/** A message of the agent. */
| {
  type: "assistant_message";
}
/** A message of the program around the agent. */
| {
  type: "system_message";
}
/** A message of the program: the model of the following answers, the first one or another one. */
| {
  /** The model. */
  model: string;
  type: "model_change";
}
/** A message of the program: the context was replaced by a summary, or truncated. */
| {
  type: "compaction";
}
/** A message of the program: the summary of an earlier conversation, which this one continues. */
| {
  type: "continuation";
}
/** An error. */
| {
  type: "error_message";
}
/** The reasoning of the agent. */
| {
  type: "thinking";
}
/** A tool call, with its result once it has ended. */
| ToolUse & {
  type: "tool_use";
}
/** Unsupported or unassignable content of the log; `content` is its raw text. */
| {
  /** The reason. */
  code: WarningKind;
  type: "diagnostic";
};

/** A patch of a session, with its number and the position of the record that caused it. */
export type NumberedPatch = {
  patch: PatchOperation;
  position: Position;
  /** From 1, for each session. */
  seq: number;
  session: SessionKey;
};

/** One operation of RFC 6902. */
export type Operation = {
  op: PatchOp;
  path: string;
  value: PatchValue;
};

/** The outcome of a session. */
export type Outcome =
/** It succeeded, according to the agent. */
| "success"
/** It ended with an error. */
| "failed"
/** It reached a limit: turns, tokens, money, time. */
| "limit_reached"
/** The user cancelled it. */
| "cancelled";

/** The session from which another one was started, and how. */
export type Parent = {
  /** The call of that session that started it. */
  corr_id?: string | null;
  /** How the session was started from it. */
  relation: Relation;
  /** The agent's id of that session. */
  session_id: string;
};

export type PatchOp = "add" | "replace";

/** One change of a conversation: a JSON Patch (RFC 6902) with one operation, for the document that begins as
 * `{"entries":[]}`.
 *
 * It serialises directly to RFC 6902 and converts into `json_patch::Patch`. It shares the entry with the event
 * that caused it: cloning a patch copies nothing. */
export type PatchOperation = [Operation];

export type PatchValue = EntrySlot | Session | TokenUsage | { [name: string]: number };

/** A position in a log. */
export type Position = {
  /** The line, counted from 1; 0 before the first line. */
  line: number;
  /** The offset of the record in bytes, from 0 at the start of the log. */
  offset: number;
};

export type Range_of_uint = {
  end: number;
  start: number;
};

/** The title of the session with a record, as another log states it. */
export type RecordTitle = {
  /** The id of the record. */
  record: string;
  /** The title. */
  title: string;
};

/** How a session was started from another one. */
export type Relation =
/** The agent delegated work to it: it is a part of the other session. */
| "sub_agent"
/** The user went on from a copy of the other session: it is a session of its own. */
| "fork"
/** It is a later part of the other session, in a log of its own. */
| "continuation";

/** Facts about a session. Each is `None` until the log states it. Fields may be added: end a
 * literal with `..Session::default()`. */
export type Session = {
  /** The agent: `droid`, `claude-code`, `codex`, ... */
  agent?: string | null;
  /** What the agent may do without asking; the latest statement. */
  authority?: Authority | null;
  /** The latest version-control branch of that directory. */
  branch?: string | null;
  /** The directory that the agent works in. */
  cwd?: string | null;
  /** The duration in milliseconds. */
  duration_ms?: number | null;
  /** The time of its end. */
  ended_at?: Timestamp | null;
  /** The last record of its log after which a conversation may end, by which other logs name the session. Only stated
   * while no title is. */
  leaf?: string | null;
  /** The limits of the account; the latest statement of each, by name. Statements add up: an update has the changed
   * ones. */
  limits?: Limit[] | null;
  /** The latest model. */
  model?: string | null;
  /** The outcome. */
  outcome?: Outcome | null;
  /** The reason for its end, in the log's own wording. */
  outcome_reason?: string | null;
  /** The session from which this one was started. */
  parent?: Parent | null;
  /** The provider of the model: `openai`, .. OpenTelemetry's `gen_ai.provider.name`. */
  provider?: string | null;
  /** The configured reasoning effort of the model. */
  reasoning_effort?: string | null;
  /** Titles of the sessions with these records, which are in other logs. Statements add up. */
  record_titles?: RecordTitle[] | null;
  /** The agent's id of the session. */
  session_id?: string | null;
  /** The time of its start. */
  started_at?: Timestamp | null;
  /** The session's title. */
  title?: string | null;
  /** The names of the available tools. */
  tools?: string[] | null;
  /** The number of turns. */
  turns?: number | null;
  /** The agent's version. */
  version?: string | null;
};

/** A session of a log, numbered by the sessions that began before it. A session has a number before the log names it,
 * and keeps it if the log renames it later. */
export type SessionKey = number;

export type SlotType = "NORMALIZED_ENTRY";

/** The status of a session. */
export type Status =
/** Its log grew in the last minute, and no end is stated. */
| "running"
/** The same, and a call waits for a person. */
| "waiting"
/** It failed, as its log states. */
| "failed"
/** Any other. */
| "done";

/** A moment in milliseconds since 1970-01-01T00:00:00Z, as stated in the log. Never taken from a clock. */
export type Timestamp = number;

/** One item of a to-do list. */
export type TodoItem = {
  /** The task. */
  content: string;
  /** `high`, `medium`, `low`, or another word of the log. */
  priority?: string | null;
  /** `pending`, `in_progress`, `completed`, or another word of the log. */
  status: string;
};

/** Tokens and cost. A field is `None` if the log does not state it, which differs from zero. Fields may be added: end
 * a literal with `..TokenUsage::default()`.
 *
 * All agents use the meaning of the OpenTelemetry semantic conventions for generative AI
 * (`gen_ai.usage.input_tokens`): input includes tokens read from and written to a cache, and output includes
 * reasoning. If an agent's log excludes them, its executor adds them. */
export type TokenUsage = {
  /** The part of the input that was read from a cache. */
  cache_read_tokens?: number | null;
  /** The part of `cache_write_tokens` that the cache keeps for an hour instead of five
   * minutes, at a different price. */
  cache_write_1h_tokens?: number | null;
  /** The part of the input that was written to a cache. */
  cache_write_tokens?: number | null;
  /** Cost in US dollars, if the log states it. */
  cost_usd?: number | null;
  /** All input tokens, including cached ones. */
  input_tokens?: number | null;
  /** All output tokens, including reasoning. */
  output_tokens?: number | null;
  /** The part of the output that was reasoning. */
  reasoning_tokens?: number | null;
  /** Searches of the web by the provider, which are charged beside the tokens. Executors state none instead of zero. */
  web_searches?: number | null;
};

/** The result of a tool. Serialised with the tag `type` and the content `value`. */
export type ToolResult =
/** Text. */
| {
  type: "text";
  value: string;
}
/** Structured data. */
| {
  type: "json";
  value: unknown;
};

/** The status of a tool call. Serialised with the tag `status`. */
export type ToolStatus =
/** Called; no result yet. */
| {
  status: "created";
}
/** Running, with a partial result. */
| {
  status: "in_progress";
}
/** Waiting for the user's permission. */
| {
  status: "pending_approval";
}
/** Ended successfully. */
| {
  status: "success";
}
/** Ended with an error. */
| {
  status: "failed";
}
/** Denied by the user or a policy. */
| {
  /** The reason, if the log states it. */
  reason?: string | null;
  status: "denied";
}
/** Cancelled before its end. */
| {
  status: "cancelled";
}
/** The log ended before a result. */
| {
  status: "unfinished";
}
/** Ended, and the log does not state how: its format has no results. */
| {
  status: "unknown";
};

/** A tool call. */
export type ToolUse = {
  /** The action of the call, with its result. */
  action_type: ActionType;
  /** Milliseconds from call to result, from the log's timestamps or as stated in the log. */
  duration_ms?: number | null;
  /** Its status. */
  status: ToolStatus;
  /** The tool's name, exactly as in the log. */
  tool_name: string;
};

/** Something invalid or unknown in a log. */
export type Warning = {
  /** The call concerned. */
  corr_id?: string | null;
  /** The kind. */
  kind: WarningKind;
  /** A human-readable sentence. */
  message: string;
  /** The raw value concerned, unless it is large; an entry contains it too. */
  sample?: unknown;
  /** The name of the unknown item: an event type, a field (`tool_call.riskScore`), a tool. */
  subject?: string | null;
};

/** The kinds of warnings. Serialised in `snake_case`. */
export type WarningKind =
/** A line that begins like JSON but is invalid. */
| "malformed"
/** A line that is not JSON, in a JSON-only format. */
| "plain_text"
/** Invalid UTF-8; the bytes were replaced by U+FFFD. */
| "invalid_utf8"
/** A line longer than the limit, or a binary one; its beginning is kept, or the whole without the ends of long texts. */
| "too_long"
/** A JSON value that is not an object, or an object without its type field. */
| "unexpected_value"
/** A record that belongs to another format. */
| "foreign_record"
/** A record of an unsupported type. */
| "unknown_event"
/** An unsupported field, or a field of an unexpected type. */
| "unknown_field"
/** An unsupported content block. */
| "unknown_block"
/** An unsupported tool other than an MCP tool. */
| "unknown_tool"
/** A second call with the same id; the first one is kept. */
| "duplicate_call"
/** A second result for one call; the first one is kept. */
| "duplicate_result"
/** A result without a call at the end of the log, or when it was evicted. */
| "unclaimed_result"
/** A result without a call id that was assigned to the oldest matching call. */
| "inferred_result"
/** A call without a result at the end of the log. */
| "unfinished_call"
/** An update to an unknown entry. */
| "unknown_correlation"
/** The log begins in the middle of a session: what a running total includes of the time before does not count. */
| "missing_beginning";
