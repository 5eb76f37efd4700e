// Made from the types of Rust. What is made there is not edited here.
//
// /api/sessions is an array of ListedSession, /api/sessions/ID is a Conversation, /api/sessions/ID/patches streams a Conversation (snapshot) and then each ConversationPatch (patch).

/** What a tool call does. Serialised with the tag `action`.
 *
 * `result` is the tool's result; it is absent while the call is open. */
export type ActionType =
/** Reads a file, or lists a directory. */
| {
  action: "file_read";
  /** Relative to the session's directory where it lies below it. */
  path: string;
  /** The content. */
  result?: ToolResult | null;
}
/** Creates, changes, moves or deletes files. */
| {
  action: "file_edit";
  /** Every change, in the order of the call. */
  changes: FileChange[];
  /** The first file that is changed. */
  path: string;
  /** The tool's message. */
  result?: ToolResult | null;
}
/** Runs a command. */
| {
  action: "command_run";
  /** The command line. */
  command: string;
  /** How it ended and what it printed. */
  result?: CommandRunResult | null;
}
/** Searches files, their names, or the web. */
| {
  action: "search";
  /** The pattern or the question. */
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
/** Reads or writes the agent's list of things to do. */
| {
  action: "todo_management";
  /** `write`, `update` or `read`. */
  operation: string;
  /** The tool's message. */
  result?: ToolResult | null;
  /** The list as the call leaves it. */
  todos: TodoItem[];
}
/** Hands work to a sub-agent. */
| {
  action: "task_create";
  /** A short description of the work. */
  description: string;
  /** The prompt. */
  prompt?: string | null;
  /** Its answer. */
  result?: ToolResult | null;
  /** Which kind of agent it is. */
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
/** Any other tool, MCP tools among them, as it was called. */
| {
  action: "tool";
  /** Its arguments. */
  arguments?: unknown;
  /** Its result. */
  result?: ToolResult | null;
  /** Its name, as the log spells it. */
  tool_name: string;
};

/** How a command ended. Serialised with the tag `type`. */
export type CommandExitStatus =
/** The log gives the exit code. */
| {
  /** 0 is success. */
  code: number;
  type: "exit_code";
}
/** The log states only whether it succeeded. */
| {
  /** Whether it succeeded. */
  success: boolean;
  type: "success";
};

/** How a command ended and what it printed. */
export type CommandRunResult = {
  /** How it ended, if the log states it. */
  exit_status: CommandExitStatus | null;
  /** What it printed: standard output and error as the agent saw them. */
  output: string | null;
};

/** The whole conversation. It is what the patches of a `PatchEmitter` add up to when they are applied
 * in order to `Conversation::default`, `{"entries":[]}`.
 *
 * It can be stored with serde at any time, and continued from there. While entries are open, the stored
 * document has one more root key, `open`: their correlation ids and indices. */
export type Conversation = {
  /** The entries, each wrapped as `{"type":"NORMALIZED_ENTRY","content":{..}}` when serialised. */
  entries: EntrySlot[];
  /** The indices of entries that still grow or wait for a result. */
  open?: { [name: string]: number };
  /** The session's facts, the latest value of each. */
  session?: Session | null;
  /** The total usage. */
  usage?: TokenUsage | null;
  /** The number of warnings of each kind. */
  warnings?: { [name: string]: number };
};

/** An entry as documents and patches hold it: `{"type":"NORMALIZED_ENTRY","content":{..}}`. */
export type EntrySlot = {
  content: NormalizedEntry;
  type: SlotType;
};

/** One change of one file. Serialised with the tag `action`. */
export type FileChange =
/** The file is written as a whole. */
| {
  action: "write";
  /** What it holds afterwards. */
  content: string;
  /** Which file. */
  path: string;
}
/** Parts of the file are changed. */
| {
  action: "edit";
  /** Whether the line numbers are those of the file, and not of the part that the log shows. */
  has_line_numbers: boolean;
  /** Which file. */
  path: string;
  /** The change in unified format, beginning with its first `@@` line. */
  unified_diff: string;
}
/** The file is deleted. */
| {
  action: "delete";
  /** Which file. */
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

/** One session of the list. Moments are milliseconds since 1970. */
export type ListedSession = {
  agent: string | null;
  began: number | null;
  /** Where the cost is from: `logged`, `estimated`, or `mixed`. */
  cost_basis: string | null;
  /** In US dollars; estimated where the log does not state it. */
  cost_usd: number | null;
  /** The folder that the agent worked in. */
  cwd: string | null;
  duration_ms: number | null;
  ended: number | null;
  /** Calls that ended otherwise than well. */
  failures: number;
  model: string | null;
  /** Its number in the database, which addresses have. */
  number: number;
  /** The agent's own id of it. */
  session: string | null;
  status: Status;
  /** Its title, or else its first prompt. */
  title: string | null;
  /** Input and output. */
  tokens: number | null;
  /** When its log was last written. */
  written: number | null;
};

/** Data about an entry. Serialised in camelCase, without absent fields. */
export type Metadata = {
  /** The correlation id. Every tool call has one, so that the entry of a late result can be found in a
   * stored conversation. */
  corrId?: string | null;
  /** Further fields of the log, under their own names. */
  extra?: { [name: string]: unknown };
  /** The result named no call, and was assigned to this one as the oldest that fits. */
  inferred?: boolean;
  /** The id of the model's message that this entry is a part of. */
  messageId?: string | null;
  /** The model that produced this entry, where the log says so of the entry itself. */
  model?: string | null;
  /** The call that started the sub-agent whose work this entry is. */
  parentCorrId?: string | null;
};

/** One entry of a conversation. */
export type NormalizedEntry = {
  /** Its text: the message, or for a tool call a short title such as a path or a command. */
  content: string;
  /** What it is. */
  entry_type: NormalizedEntryType;
  /** Further data. */
  metadata: Metadata | null;
  /** The time of the message, or of the call's beginning, in milliseconds since 1970, if the log states it. */
  timestamp: Timestamp | null;
};

/** What an entry is. Serialised with the tag `type`. */
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
/** Something of the log that was not understood, or fits nowhere; `content` is its raw text. */
| {
  /** Why it is not understood. */
  code: WarningKind;
  type: "diagnostic";
};

/** One operation of RFC 6902. */
export type Operation = {
  op: PatchOp;
  path: string;
  value: PatchValue;
};

/** How a session ended. */
export type Outcome =
/** It succeeded, as far as the agent states. */
| "success"
/** It ended with an error. */
| "failed"
/** A limit ended it: turns, tokens, money, time. */
| "limit_reached"
/** The user ended it. */
| "cancelled";

export type PatchOp = "add" | "replace";

/** One change of a conversation: a JSON Patch (RFC 6902) with one operation, to be applied to the
 * document that begins as `{"entries":[]}`.
 *
 * It serialises straight to RFC 6902 and converts into `json_patch::Patch`. It shares the entry with
 * the event that caused it: cloning a patch copies nothing. */
export type PatchOperation = [Operation];

export type PatchValue = EntrySlot | Session | TokenUsage | { [name: string]: number };

/** Facts about a session. Each is `None` until the log states it. Fields may be added: end a
 * literal with `..Session::default()`. */
export type Session = {
  /** Which agent: `droid`, `claude-code`, `codex`, ... */
  agent?: string | null;
  /** The branch of the version control there; where it changes within the session, the latest. */
  branch?: string | null;
  /** The directory that the agent works in. */
  cwd?: string | null;
  /** How long it took, in milliseconds. */
  duration_ms?: number | null;
  /** When it ended. */
  ended_at?: Timestamp | null;
  /** The model; where it changes within the session, the latest. */
  model?: string | null;
  /** How it ended. */
  outcome?: Outcome | null;
  /** The reason for its end, in the log's own word. */
  outcome_reason?: string | null;
  /** The session that this one was started from, as a sub-agent or a fork. */
  parent_session_id?: string | null;
  /** Who serves the model: `openai`, .. OpenTelemetry's `gen_ai.provider.name`. */
  provider?: string | null;
  /** The reasoning effort that is set for the model. */
  reasoning_effort?: string | null;
  /** The agent's own id of the session. */
  session_id?: string | null;
  /** When it began. */
  started_at?: Timestamp | null;
  /** The session's title. */
  title?: string | null;
  /** The names of the tools that the agent may use. */
  tools?: string[] | null;
  /** How many turns it took. */
  turns?: number | null;
  /** The agent's version. */
  version?: string | null;
};

export type SlotType = "NORMALIZED_ENTRY";

/** How a session stands. */
export type Status =
/** Its log grew in the last minute, and no end is stated. */
| "running"
/** The same, and a call waits for permission. */
| "waiting"
/** It ended otherwise than well, as its log states. */
| "failed"
/** Any other. */
| "done";

/** A moment in milliseconds since 1970-01-01T00:00:00Z, as the log states it. Never from a clock. */
export type Timestamp = number;

/** One item of a to-do list. */
export type TodoItem = {
  /** The task. */
  content: string;
  /** `high`, `medium`, `low`, or the log's own word. */
  priority?: string | null;
  /** `pending`, `in_progress`, `completed`, or the log's own word. */
  status: string;
};

/** Tokens and cost. A field is `None` if the log does not state it, which is not zero. Fields may be added:
 * end a literal with `..TokenUsage::default()`.
 *
 * One meaning for all agents, that of the OpenTelemetry semantic conventions for generative AI
 * (`gen_ai.usage.input_tokens`): input includes what was read from and written to a cache, and
 * output includes reasoning. Where an agent's log excludes them, its executor adds them. */
export type TokenUsage = {
  /** The part of the input that was read from a cache. */
  cache_read_tokens?: number | null;
  /** The part of `cache_write_tokens` that the cache keeps for an hour instead of
   * five minutes, which has another price. */
  cache_write_1h_tokens?: number | null;
  /** The part of the input that was written to a cache. */
  cache_write_tokens?: number | null;
  /** Cost in US dollars, if the log states it. */
  cost_usd?: number | null;
  /** All input tokens, cached ones included. */
  input_tokens?: number | null;
  /** All output tokens, reasoning included. */
  output_tokens?: number | null;
  /** The part of the output that was reasoning. */
  reasoning_tokens?: number | null;
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
/** The log ended, and no result had come. */
| {
  status: "unfinished";
};

/** A tool call. */
export type ToolUse = {
  /** What the call does, with its result. */
  action_type: ActionType;
  /** Milliseconds from call to result, by the log's timestamps or as the log states it. */
  duration_ms?: number | null;
  /** Its status. */
  status: ToolStatus;
  /** The tool's name, as the log spells it. */
  tool_name: string;
};

/** The kinds of warnings. Serialised in `snake_case`. */
export type WarningKind =
/** A line that begins like JSON and is not valid. */
| "malformed"
/** A line that is not JSON, in a format that has only JSON. */
| "plain_text"
/** Bytes that are not UTF-8; they were replaced by U+FFFD. */
| "invalid_utf8"
/** A line longer than the limit, or a binary one; only its beginning is kept. */
| "too_long"
/** A JSON value that is not an object, or an object without its type field. */
| "unexpected_value"
/** A record that belongs to another format. */
| "foreign_record"
/** A type of record that the executor does not know. */
| "unknown_event"
/** A field that the executor does not know, or that has an unexpected type. */
| "unknown_field"
/** A content block that the executor does not know. */
| "unknown_block"
/** A tool that the executor does not know, and that is not an MCP tool. */
| "unknown_tool"
/** A second call with the same id; the first one counts. */
| "duplicate_call"
/** A second result for one call; the first one counts. */
| "duplicate_result"
/** A result that no call claimed before the end of the log, or before it was evicted. */
| "unclaimed_result"
/** A result that names no call was assigned to the oldest one that fits. */
| "inferred_result"
/** A call without a result at the end of the log. */
| "unfinished_call"
/** An update to an unknown entry. */
| "unknown_correlation";
