/** What a consumer's page does: it decides, and shows it. */
import { decided } from './decided.mjs';

document.querySelector('#decided').textContent = decided().join('\n');
