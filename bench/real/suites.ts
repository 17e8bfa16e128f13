/** What is run by `npm run test:real`, and in which environments. */

/** A virtual environment. It may serve several suites, since PyTorch alone takes 5 GB. */
export interface Environment {
  /** The version of Python, as in `python3.12`. */
  readonly python: string;
  /** What pip installs. */
  readonly packages: readonly string[];
  /** What pip installs without its requirements: they need CUDA, or are not needed for what runs here. */
  readonly alone?: readonly string[];
}

export interface Suite {
  readonly environment: string;
  /** Arguments of pytest, in `python`. */
  readonly tests: readonly string[];
  /** An environment variable that names a checkout, for what is on no registry. */
  readonly checkout?: string;
}

export const environments: Readonly<Record<string, Environment>> = {
  ray: { python: '3', packages: ['ray>=2.60', 'pytest'] },
  trainers: {
    python: '3.12',
    packages: [
      'torch==2.13.0',
      'ray>=2.60',
      'tensordict==0.10.0',
      'transferqueue==0.1.11',
      'hydra-core==1.3.2',
      'omegaconf==2.3.0',
      // As verl 0.9.1 requires.
      'transformers>=5.5.3,<5.11',
      'datasets',
      'peft',
      'accelerate',
      'torchdata',
      'codetiming',
      'pandas',
      'pyarrow',
      'wandb',
      'pillow',
      'cachetools',
      'fastapi',
      'uvicorn',
      'sglang-router==0.3.2',
      'quickjs-ng',
      'pytest',
    ],
    alone: ['verl==0.9.1', 'sglang==0.5.15.post1'],
  },
};

const real = (name: string): readonly string[] => ['-m', 'real', `tests/real/test_${name}.py`];

export const suites: Readonly<Record<string, Suite>> = {
  ray: { environment: 'ray', tests: ['tests/on_ray'] },
  verl: { environment: 'trainers', tests: real('verl') },
  slime: { environment: 'trainers', tests: real('slime'), checkout: 'SLIME_PATH' },
  'nemo-rl': { environment: 'trainers', tests: real('nemo_rl'), checkout: 'NEMO_RL_PATH' },
  roll: { environment: 'trainers', tests: real('roll'), checkout: 'ROLL_PATH' },
  hf: { environment: 'trainers', tests: [...real('hf_engine'), 'tests/real/test_torch.py', 'tests/real/test_example.py'] },
  checks: { environment: 'trainers', tests: real('check') },
};
