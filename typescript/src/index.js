export { Fold, fold, records } from "./fold.js";
export { applyPatch } from "./patch.js";
export { Refused, subscribe } from "./subscribe.js";
