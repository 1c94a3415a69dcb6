export { type Actor, type AuditRecord, auditStatement, recordAudit } from "./record-audit.ts";
