/**
 * Open models, as fields of their `config.json`. The first line of a table names the fields; `-` is a field that the config does not
 * have, or that says what is usual; `3*a,b` is a list of a and b, three times. `quantization` stands for a `quantization_config`, and
 * `49:8:5.25` in `block_configs` for 49 blocks with 8 query heads for each KV head, and an MLP of that multiple; `128:16` for sparse
 * attention to 16 blocks of 128 tokens.
 */

/** Tables of models. */
export const modelRows: readonly string[] = [
  // Dense models with grouped-query attention.
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size tie_word_embeddings
    meta-llama/Llama-2-7b-hf llama 32 4096 11008 32 32 - 32000 -
    meta-llama/Llama-2-13b-hf llama 40 5120 13824 40 40 - 32000 -
    meta-llama/Llama-2-70b-hf llama 80 8192 28672 64 8 - 32000 -
    codellama/CodeLlama-34b-hf llama 48 8192 22016 64 8 - 32000 -
    meta-llama/Meta-Llama-3-8B llama 32 4096 14336 32 8 - 128256 -
    meta-llama/Meta-Llama-3-70B llama 80 8192 28672 64 8 - 128256 -
    meta-llama/Llama-3.1-8B llama 32 4096 14336 32 8 - 128256 -
    meta-llama/Llama-3.1-70B llama 80 8192 28672 64 8 - 128256 -
    meta-llama/Llama-3.1-405B llama 126 16384 53248 128 8 - 128256 -
    meta-llama/Llama-3.2-1B llama 16 2048 8192 32 8 64 128256 true
    meta-llama/Llama-3.2-3B llama 28 3072 8192 24 8 128 128256 true
    meta-llama/Llama-3.3-70B-Instruct llama 80 8192 28672 64 8 128 128256 -
    deepseek-ai/deepseek-llm-67b-base llama 95 8192 22016 64 8 - 102400 -
    01-ai/Yi-34B llama 60 7168 20480 56 8 - 64000 -
    Qwen/Qwen2.5-0.5B qwen2 24 896 4864 14 2 - 151936 true
    Qwen/Qwen2.5-1.5B qwen2 28 1536 8960 12 2 - 151936 true
    Qwen/Qwen2.5-3B qwen2 36 2048 11008 16 2 - 151936 true
    Qwen/Qwen2.5-7B qwen2 28 3584 18944 28 4 - 152064 -
    Qwen/Qwen2.5-14B qwen2 48 5120 13824 40 8 - 152064 -
    Qwen/Qwen2.5-32B qwen2 64 5120 27648 40 8 - 152064 -
    Qwen/Qwen2.5-72B qwen2 80 8192 29568 64 8 - 152064 -
    Qwen/QwQ-32B qwen2 64 5120 27648 40 8 - 152064 -
    Qwen/Qwen3-0.6B qwen3 28 1024 3072 16 8 128 151936 true
    Qwen/Qwen3-1.7B qwen3 28 2048 6144 16 8 128 151936 true
    Qwen/Qwen3-4B qwen3 36 2560 9728 32 8 128 151936 true
    Qwen/Qwen3-8B qwen3 36 4096 12288 32 8 128 151936 -
    Qwen/Qwen3-14B qwen3 40 5120 17408 40 8 128 151936 -
    Qwen/Qwen3-32B qwen3 64 5120 25600 64 8 128 151936 -
    mistralai/Mistral-7B-v0.3 mistral 32 4096 14336 32 8 128 32768 -
    mistralai/Ministral-8B-Instruct-2410 mistral 36 4096 12288 32 8 128 131072 -
    mistralai/Mistral-Nemo-Base-2407 mistral 40 5120 14336 32 8 128 131072 -
    mistralai/Mistral-Small-Instruct-2409 mistral 56 6144 16384 48 8 128 32768 -
    mistralai/Mistral-Small-24B-Base-2501 mistral 40 5120 32768 32 8 128 131072 -
    mistralai/Mistral-Large-Instruct-2407 mistral 88 12288 28672 96 8 128 32768 -
    zai-org/GLM-4-9B-0414 glm4 40 4096 13696 32 2 128 151552 -
    zai-org/GLM-4-32B-0414 glm4 61 6144 23040 48 2 128 151552 -
    microsoft/Phi-3-medium-128k-instruct phi3 40 5120 17920 40 10 - 32064 -
    microsoft/phi-4 phi3 40 5120 17920 40 10 - 100352 -
    microsoft/Phi-4-mini-instruct phi3 32 3072 8192 24 8 - 200064 true
    nvidia/Nemotron-4-340B-Base nemotron 96 18432 73728 96 8 192 256000 -
    XiaomiMiMo/MiMo-7B-Base mimo 36 4096 11008 32 8 128 151680 -
    CohereLabs/c4ai-command-r-v01 cohere 40 8192 22528 64 64 - 256000 -
    CohereLabs/c4ai-command-r-plus cohere 64 12288 33792 96 8 - 256000 -
    allenai/OLMo-2-1124-7B olmo2 32 4096 11008 32 32 - 100352 -
    allenai/OLMo-2-1124-13B olmo2 40 5120 13824 40 40 - 100352 -
    allenai/OLMo-2-0325-32B olmo2 64 5120 27648 40 8 - 100352 -
    ByteDance-Seed/Seed-OSS-36B-Base seed_oss 64 5120 27648 80 8 128 155136 -
  `,
  // Layers with windows between others.
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size intermediate_size_mlp num_local_experts num_experts_per_tok interleave_moe_layer_step attention_chunk_size
    meta-llama/Llama-4-Scout-17B-16E llama4_text 48 5120 8192 40 8 128 202048 16384 16 1 1 8192
    meta-llama/Llama-4-Maverick-17B-128E llama4_text 48 5120 8192 40 8 128 202048 16384 128 1 2 8192
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size sliding_window
    google/gemma-2-2b gemma2 26 2304 9216 8 4 256 256000 4096
    google/gemma-2-9b gemma2 42 3584 14336 16 8 256 256000 4096
    google/gemma-2-27b gemma2 46 4608 36864 32 16 128 256000 4096
    CohereLabs/c4ai-command-a-03-2025 cohere2 64 12288 36864 96 8 128 256000 4096
    LGAI-EXAONE/EXAONE-4.0-32B exaone4 64 5120 27392 40 8 128 102400 4096
    google/gemma-3-1b-pt gemma3_text 26 1152 6912 4 1 256 262144 512
    google/gemma-3-4b-pt gemma3_text 34 2560 10240 8 4 256 262208 1024
    google/gemma-3-12b-pt gemma3_text 48 3840 15360 16 8 256 262208 1024
    google/gemma-3-27b-pt gemma3_text 62 5376 21504 32 16 128 262208 1024
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size num_experts moe_intermediate_size sliding_window global_head_dim num_global_key_value_heads attention_k_eq_v sliding_window_pattern top_k_experts
    google/gemma-4-26B-A4B gemma4_text 30 2816 2112 16 8 256 262144 128 704 1024 512 2 true 6 8
    google/gemma-4-31B gemma4_text 60 5376 21504 32 16 256 262144 - - 1024 512 4 true 6 -
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads head_dim vocab_size moe_intermediate_size first_k_dense_replace sliding_window moe_num_experts num_attention_groups swa_num_attention_heads moe_top_k share_expert_dim layer_types
    stepfun-ai/Step-3.5-Flash step3p5 45 4096 11264 64 128 128896 1280 3 512 288 8 96 8 1280 12*full_attention,sliding_attention,sliding_attention,sliding_attention
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size num_experts_per_tok moe_intermediate_size n_routed_experts first_k_dense_replace v_head_dim quantization sliding_window swa_num_key_value_heads hybrid_layer_pattern
    XiaomiMiMo/MiMo-V2-Flash mimo_v2_flash 48 4096 16384 64 4 192 152576 8 2048 256 1 128 fp8 128 8 0,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0,1,1,1,1,1,0
  `,
  // Experts, with the number of experts by one of its names.
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size num_experts_per_tok num_experts moe_intermediate_size shared_expert_intermediate_size n_routed_experts n_shared_experts first_k_dense_replace num_shared_experts
    Qwen/Qwen1.5-MoE-A2.7B qwen2_moe 24 2048 5632 16 16 - 151936 4 60 1408 5632 - - - -
    Qwen/Qwen2-57B-A14B qwen2_moe 28 3584 18944 28 4 - 151936 8 64 2560 20480 - - - -
    Qwen/Qwen3-30B-A3B qwen3_moe 48 2048 6144 32 4 128 151936 8 128 768 - - - - -
    Qwen/Qwen3-235B-A22B qwen3_moe 94 4096 12288 64 4 128 151936 8 128 1536 - - - - -
    Qwen/Qwen3-Coder-480B-A35B-Instruct qwen3_moe 62 6144 8192 96 8 128 151936 8 160 2560 - - - - -
    zai-org/GLM-4.5 glm4_moe 92 5120 12288 96 8 128 151552 8 - 1536 - 160 1 3 -
    zai-org/GLM-4.5-Air glm4_moe 46 4096 10944 96 8 128 151552 8 - 1408 - 128 1 1 -
    zai-org/GLM-4.6 glm4_moe 92 5120 12288 96 8 128 151552 8 - 1536 - 160 1 3 -
    zai-org/GLM-4.7 glm4_moe 92 5120 12288 96 8 128 151552 8 - 1536 - 160 1 3 -
    inclusionAI/Ling-mini-2.0 bailing_moe_v2 20 2048 5120 16 4 128 157184 8 256 512 - - - 1 1
    inclusionAI/Ling-flash-2.0 bailing_moe_v2 32 4096 9216 32 4 128 157184 8 256 1024 - - - 1 1
    inclusionAI/Ling-1T bailing_moe_v2 80 8192 18432 64 8 128 157184 8 256 2048 - - - 4 1
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size num_local_experts num_experts_per_tok n_shared_experts first_k_dense_replace quantization sliding_window dense_intermediate_size sparse_attention_config
    mistralai/Mixtral-8x7B-v0.1 mixtral 32 4096 14336 32 8 - 32000 8 2 - - - - - -
    mistralai/Mixtral-8x22B-v0.1 mixtral 56 6144 16384 48 8 - 32000 8 2 - - - - - -
    openai/gpt-oss-20b gpt_oss 24 2880 2880 64 8 64 201088 32 4 - - mxfp4 128 - -
    openai/gpt-oss-120b gpt_oss 36 2880 2880 64 8 64 201088 128 4 - - mxfp4 128 - -
    MiniMaxAI/MiniMax-M2 minimax_m2 62 3072 1536 48 8 128 200064 256 8 - - fp8 - - -
    MiniMaxAI/MiniMax-M2.1 minimax_m2 62 3072 1536 48 8 128 200064 256 8 - - fp8 - - -
    MiniMaxAI/MiniMax-M2.5 minimax_m2 62 3072 1536 48 8 128 200064 256 8 - - fp8 - - -
    MiniMaxAI/MiniMax-M2.7 minimax_m2 62 3072 1536 48 8 128 200064 256 8 - - fp8 - - -
    microsoft/Phi-3.5-MoE-instruct phimoe 32 4096 6400 32 8 - 32064 16 2 - - - - - -
    MiniMaxAI/MiniMax-M3 minimax_m3 60 6144 3072 64 4 128 200064 128 4 1 3 - - 12288 128:16
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size tie_word_embeddings num_experts moe_intermediate_size moe_topk num_shared_expert
    tencent/Hunyuan-A13B-Instruct hunyuan_v1_moe 32 4096 3072 32 8 128 128167 true 64 3072 8 1
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads vocab_size tie_word_embeddings moe_intermediate_size moe_num_experts moe_k moe_num_shared_experts moe_layer_start_index moe_layer_interval
    baidu/ERNIE-4.5-21B-A3B-PT ernie4_5_moe 28 2560 12288 20 4 103424 true 1536 64 6 2 1 1
    baidu/ERNIE-4.5-300B-A47B-PT ernie4_5_moe 54 8192 28672 64 8 103424 false 3584 64 8 - 3 1
  `,
  // Multi-head latent attention.
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads vocab_size num_experts_per_tok moe_intermediate_size n_routed_experts n_shared_experts first_k_dense_replace kv_lora_rank qk_rope_head_dim qk_nope_head_dim v_head_dim q_lora_rank quantization index_topk index_n_heads index_head_dim
    deepseek-ai/DeepSeek-V2-Lite deepseek_v2 27 2048 10944 16 16 102400 6 1408 64 2 1 512 64 128 128 - - - - -
    deepseek-ai/DeepSeek-V2 deepseek_v2 60 5120 12288 128 128 102400 6 1536 160 2 1 512 64 128 128 1536 - - - -
    deepseek-ai/DeepSeek-V3 deepseek_v3 61 7168 18432 128 128 129280 8 2048 256 1 3 512 64 128 128 1536 fp8 - - -
    deepseek-ai/DeepSeek-R1 deepseek_v3 61 7168 18432 128 128 129280 8 2048 256 1 3 512 64 128 128 1536 fp8 - - -
    deepseek-ai/DeepSeek-V3.1 deepseek_v3 61 7168 18432 128 128 129280 8 2048 256 1 3 512 64 128 128 1536 fp8 - - -
    moonshotai/Moonlight-16B-A3B deepseek_v3 27 2048 11264 16 16 163840 6 1408 64 2 1 512 64 128 128 - - - - -
    mistralai/Mistral-Large-3-675B-Instruct-2512 deepseek_v3 61 7168 16384 128 128 131072 4 4096 128 1 3 512 64 128 128 1536 fp8 - - -
    deepseek-ai/DeepSeek-V3.2 deepseek_v32 61 7168 18432 128 128 129280 8 2048 256 1 3 512 64 128 128 1536 fp8 2048 64 128
    moonshotai/Kimi-K2-Instruct kimi_k2 61 7168 18432 64 64 163840 8 2048 384 1 1 512 64 128 128 1536 fp8 - - -
    moonshotai/Kimi-K2-Thinking kimi_k2 61 7168 18432 64 64 163840 8 2048 384 1 1 512 64 128 128 1536 int4 - - -
    moonshotai/Kimi-K2.5 kimi_k2 61 7168 18432 64 64 163840 8 2048 384 1 1 512 64 128 128 1536 int4 - - -
    zai-org/GLM-4.7-Flash glm4_moe_lite 47 2048 10240 20 20 154880 4 1536 64 1 1 512 64 192 256 768 - - - -
    zai-org/GLM-5 glm_moe_dsa 78 6144 12288 64 64 154880 8 2048 256 1 3 512 64 192 256 2048 - 2048 32 128
  `,
  // Gated delta nets, lightning attention and Mamba between layers of attention.
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size tie_word_embeddings num_experts_per_tok num_experts moe_intermediate_size shared_expert_intermediate_size linear_num_value_heads linear_num_key_heads linear_key_head_dim linear_value_head_dim
    Qwen/Qwen3-Next-80B-A3B-Instruct qwen3_next 48 2048 5120 16 2 256 151936 - 10 512 512 512 32 16 128 128
    Qwen/Qwen3.5-4B qwen3_5_text 32 2560 9216 16 4 256 248320 true - - - - 32 16 128 128
    Qwen/Qwen3.5-9B qwen3_5_text 32 4096 12288 16 4 256 248320 - - - - - 32 16 128 128
    Qwen/Qwen3.5-27B qwen3_5_text 64 5120 17408 24 4 256 248320 - - - - - 48 16 128 128
    Qwen/Qwen3.5-35B-A3B qwen3_5_moe_text 40 2048 - 16 2 256 248320 - 8 256 512 512 32 16 128 128
    Qwen/Qwen3.5-122B-A10B qwen3_5_moe_text 48 3072 - 32 2 256 248320 - 8 256 1024 1024 64 16 128 128
    Qwen/Qwen3.5-397B-A17B qwen3_5_moe_text 60 4096 - 32 2 256 248320 - 10 512 1024 1024 64 16 128 128
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size num_local_experts num_experts_per_tok attn_type_list
    MiniMaxAI/MiniMax-M1-80k minimax_m1 80 6144 9216 64 8 128 200064 32 2 10*0,0,0,0,0,0,0,1
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads head_dim vocab_size num_experts_per_tok moe_intermediate_size n_routed_experts mamba_num_heads mamba_head_dim ssm_state_size n_groups conv_kernel moe_shared_expert_intermediate_size moe_latent_size hybrid_override_pattern
    nvidia/Nemotron-H-8B-Base-8K nemotron_h 52 4096 21504 32 8 128 131072 - - - 128 64 128 8 4 - - M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-
    nvidia/NVIDIA-Nemotron-Nano-9B-v2 nemotron_h 56 4480 15680 40 8 128 131072 - - - 128 80 128 8 4 - - M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-
    nvidia/NVIDIA-Nemotron-Nano-12B-v2 nemotron_h 62 5120 20480 40 8 128 131072 - - - 128 80 128 8 4 - - M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M-
    nvidia/Nemotron-H-56B-Base-8K nemotron_h 118 8192 32768 64 8 128 131072 - - - 256 64 256 8 4 - - M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-
    nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16 nemotron_h 52 2688 1856 32 2 128 131072 6 1856 128 64 64 128 8 4 3712 - MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME
    nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16 nemotron_h 88 4096 2688 32 2 128 131072 22 2688 512 128 64 128 8 4 5376 1024 MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME
    nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16 nemotron_h 108 8192 5120 64 2 128 131072 22 5120 512 256 64 128 8 4 10240 2048 MEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME
  `,
  `
    id model_type num_hidden_layers hidden_size intermediate_size num_attention_heads num_key_value_heads vocab_size tie_word_embeddings num_experts_per_tok num_experts expert_layer_period expert_layer_offset attn_layer_period attn_layer_offset mamba_expand mamba_d_state mamba_d_conv mamba_dt_rank
    ai21labs/AI21-Jamba-1.5-Mini jamba 32 4096 14336 32 8 65536 false 2 16 2 1 8 4 2 16 4 256
    ai21labs/AI21-Jamba-1.5-Large jamba 72 8192 24576 64 8 65536 false 2 16 2 1 8 4 2 16 4 512
  `,
  // Thinned out by neural architecture search.
  `
    id model_type num_hidden_layers hidden_size num_attention_heads vocab_size block_configs
    nvidia/Llama-3_3-Nemotron-Super-49B-v1 nemotron-nas 80 8192 64 128256 49:8:5.25,10:-:1.3125,8:-:1,6:-:2.625,6:-:0.5,1:-:3.28125
  `,
];
