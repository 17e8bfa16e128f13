export { grpoAdvantages } from './grpo-advantages.ts';
export {
  type AdvantagesInput,
  type AdvantagesPlan,
  type AdvantagesSettings,
  advantageGroup,
  advantagesInput,
  advantagesPlan,
} from './schema.ts';
