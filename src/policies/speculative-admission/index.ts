export type { AdmissionDecision, AdmissionEvent } from './decisions.ts';
export { type AdmissionConfig, type AdmissionInput, admissionConfig } from './schema.ts';
export { speculativeAdmission } from './speculative-admission.ts';
