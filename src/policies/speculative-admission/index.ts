export { type AdmissionConfig, type AdmissionDecision, type AdmissionInput, admissionConfig } from './schema.ts';
export { type AdmissionEvent, speculativeAdmission } from './speculative-admission.ts';
