/** What was imported, and the way back. */
export {
  type ListedImport,
  type ListOptions,
  listImports,
  type ShownImport,
  showImport,
} from "./list-imports.ts";
export { type UndoneImport, type UndoOptions, undoImport } from "./undo-import.ts";
