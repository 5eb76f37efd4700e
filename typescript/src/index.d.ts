import type { Conversation, PatchOperation } from "../dist/types.js";

/** The types of documents, patches and the list of sessions, as `foldline serve` has them at `/api/types.d.ts`. */
export * from "../dist/types.js";

/** One operation of any JSON Patch (RFC 6902). */
export type JsonPatchOperation =
  | { op: "add" | "replace" | "test"; path: string; value: unknown }
  | { op: "remove"; path: string }
  | { op: "copy" | "move"; from: string; path: string };

/**
 * The document after a patch. The given document stays as it is, and both share what the patch does not change, so that
 * comparing references finds the changes.
 *
 * @throws if the patch does not fit the document.
 */
export function applyPatch<Document>(document: Document, patch: readonly JsonPatchOperation[]): Document;

/** The receivers of a live document. */
export interface SubscribeOptions {
  /** The whole document: at the beginning, and after a gap. */
  onDocument?: (document: Conversation) => void;
  /** One change, and the document after it. It shares all that did not change with the one before. */
  onPatch?: (patch: PatchOperation, document: Conversation) => void;
  /** Changes were missed, such as while the server was restarted. The whole document follows. */
  onGap?: () => void;
  /** Stops following. */
  signal?: AbortSignal;
  /** Headers of each request, such as `{ authorization: "Bearer .." }`. */
  headers?: Record<string, string>;
  /** In place of the global function. */
  fetch?: typeof globalThis.fetch;
}

/**
 * Follows the session at `url`, `http://127.0.0.1:7433/api/sessions/ID/patches`. A lost connection is made again, and
 * continues after the last patch. Resolves when the session has ended for good, or the signal was aborted.
 *
 * @throws {Refused} if the server refuses the request; and what a receiver throws.
 */
export function subscribe(url: string | URL, options?: SubscribeOptions): Promise<void>;

/** The server refuses the request: there is no such session, or the token is missing. */
export class Refused extends Error {
  /** The status of HTTP. */
  readonly status: number;
}

/** A log. */
export interface LogOptions {
  /** The name of its format, such as `claude-session`; it is recognised by default. */
  format?: string;
  /** Its path, which may state facts about the session. A document that is not lines is recognised by `.json`. */
  path?: string;
  /** Texts of files near the log, by their paths, which may state facts about the session. */
  siblings?: Record<string, string>;
  /** The compiled module, where it cannot be loaded from next to this package. */
  module?: WebAssembly.Module;
}

/** A log, and the outputs that are made of it. One that is not needed takes no time. */
export interface FoldOptions extends LogOptions {
  outputs?: {
    /** JSON Patches, as the log is read: by default. */
    patches?: boolean;
    /** The documents of the sessions. */
    conversations?: boolean;
    /** The pages of the sessions. */
    pages?: boolean;
  };
  /** The time zone of pages, such as `Europe/Paris`: UTC by default. */
  zone?: string;
}

/** One line of patches. */
export interface PatchRecord {
  /** The session of the log, counted from 0. Each has its own document. */
  session: number;
  /** 1, 2, 3, ... without gaps, for each session. */
  seq: number;
  /** The record of the log that caused the patch. */
  position: { line: number; offset: number };
  patch: PatchOperation;
}

/** A log, folded as its bytes arrive. Its memory is freed with it. */
export class Fold {
  private constructor();

  /** Begins a log. */
  static create(options?: FoldOptions): Promise<Fold>;

  /**
   * Adds bytes of the log, and returns the patches that result: the lines of `foldline replay --format patches`. Chunks
   * may have any length.
   *
   * @throws if the format is not recognised, or the log has ended.
   */
  push(bytes: Uint8Array): string;

  /** Ends the log, and returns the remaining patches. */
  finish(): string;

  /** The documents of the sessions so far. */
  conversations(): Conversation[];

  /** The number of sessions so far, if documents or pages are made. */
  sessions(): number;

  /** The page of a session, counted from 0, as one HTML file; `undefined` if there is no such session. */
  page(session?: number): string | undefined;
}

/** A log: its text, its bytes, a file, or a stream of bytes. */
export type LogSource = string | Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The documents of the sessions of a log. */
export function fold(log: LogSource, options?: LogOptions): Promise<Conversation[]>;

/** The values of the lines that {@link Fold.push} returns. */
export function records(lines: string): PatchRecord[];
