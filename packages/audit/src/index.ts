export { type Actor, type AuditRecord, recordAudit } from "./record-audit.ts";
