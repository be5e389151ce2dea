/* SPDX-License-Identifier: Apache-2.0 */
/* Names as tracers show them, and such that look alike and are not. */
#include "harness.h"
#include "model/activity_table.h"

static void is(const char *name, const char *lib, const char *precision) {
    int right = CHECK_STR_EQ(kernel_lib(name, strlen(name)), lib);
    right &= CHECK_STR_EQ(kernel_precision(name, strlen(name)), precision);
    if (!right) {
        dprintf(harness_fd, "    of %s\n", name);
    }
}

TEST(kernel_names, of_libraries) {
    is("trt_volta_h884cudnn_256x128_ldg8_relu_exp_small_nhwc_tn_v1", "TensorRT", "fp16");
    is("trt_turing_h1688cudnn_128x128_ldg8_relu_exp_small_nhwc_tn_v1", "TensorRT", "fp16");
    is("trt_volta_int8x4_icudnn_int8x4_128x64_relu_interior_nn_v1", "TensorRT", "int8");
    is("trt_maxwell_sgemm_32x128_relu_tn_v1", "TensorRT", "fp32");
    is("sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f16_f16_nhwckrsc_nhwc_execute_kernel_trt",
       "TensorRT", "fp16");
    is("__myl_bb1_2_TraSliSliResTraResMovSli", "TensorRT", "");
    is("void genericReformat::copyPackedKernel<float, __half, (bool)1, (bool)1>(unsigned int)",
       "TensorRT", "");
    is("volta_scudnn_128x32_relu_interior_nn_v1", "cuDNN", "fp32");
    is("void cudnn::bn_fw_inf_1C11_kernel_NHWC<float>(cudnnTensorStruct)", "cuDNN", "");
    is("void cutlass_cudnn::Kernel<cutlass_tensorop_f16_s16816dgrad_optimized_f16>(Params)",
       "cuDNN", "fp16");
    is("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw", "cuDNN", "tf32");
    is("ampere_sgemm_64x32_sliced1x4_tn", "cuBLAS", "fp32");
    is("volta_h884gemm_128x256_ldg8_nn", "cuBLAS", "fp16");
    is("volta_dgemm_128x64_nn", "cuBLAS", "fp64");
    is("turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_nn", "cuBLAS", "fp16");
    is("ampere_bf16_s1688gemm_bf16_128x64_sliced1x2_ldg8_f2f_tn", "cuBLAS", "bf16");
    is("ampere_s16816gemm_fp16_256x128_ldg8_stages_32x3_nn", "cuBLAS", "fp16");
    is("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "cuBLAS", "bf16");
    is("nvjet_sm100_tst_64x32_64x16_2x1_2cta_v_bz_TNN", "cuBLAS", "");
    is("void cublasLt::splitKreduce_kernel<32, 16, int, float>(P)", "cuBLAS", "");
    is("void splitKreduce_kernel<float, float, float, float>(cublasSplitKParams<float>)", "cuBLAS",
       "");
    is("void epilogue::impl::globalKernel<8, 32, float, (cublasLtEpilogue_t)4>(P)", "cuBLAS", "");
    is("void magma_sgemmEx_kernel<float, float, float, false, false, 6, 4, 6, 3, 4>(int)", "cuBLAS",
       "");
    is("void fft2d_r2c_32x32<float, false, 1u, false>(float2*, cudnn::reduced_divisor)", "cuDNN",
       "");
    is("void fft2d_c2r_32x32<float, false, false, 1u>(float*, float2 const*)", "cuDNN", "");
    is("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x256_16x3_nn_align4>(P)", "cuBLAS",
       "tf32");
    is("cutlass_80_tensorop_d884gemm_128x64_16x3_nn_align1", "cuBLAS", "fp64");
    is("cutlass_tensorop_s8_i16832gemm_s8_256x128_64x3_tn_align16", "CUTLASS", "int8");
    is("cutlass_tensorop_s4_i16864gemm_s4_256x128_128x3_tn_align32", "CUTLASS", "int4");
    is("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL",
       "bf16");
    is("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", "NCCL", "");
    is("void at::native::vectorized_elementwise_kernel<4, at::native::Op>(int)", "PyTorch", "");
    is("void at::native::(anonymous namespace)::cudnn_like<4>(int)", "PyTorch", "");
    is("void cub::DeviceReduceKernel<float>(float*)", "CUB", "");
    is("void phi::funcs::VectorizedBroadcastKernel<float>(P)", "Paddle", "");
}

TEST(kernel_names, of_frameworks_and_what_they_call) {
    is("fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)", "xFormers",
       "fp16");
    is("fmha_cutlassB_bf16_aligned_64x64_k64_sm80(P)", "xFormers", "bf16");
    is("void tensorrt_llm::kernels::cutlass_kernels::run<(int)4>(P)", "TensorRTLLM", "");
    is("void vllm::rms_norm_kernel<c10::Half>(c10::Half*)", "vLLM", "");
    is("void cusolver_kernel<double>(int)", "cuSOLVER", "");
    is("nvshmemi_transfer_kernel(int)", "NVSHMEM", "");
    is("cupy_add__float32_float32_float32", "CuPy", "");
    is("void deep_gemm::sm90_gemm<1024u>(float*)", "DeepGEMM", "");
    is("loop_add_fusion_2", "XLA", "");
    is("input_reduce_fusion", "XLA", "");
    is("wrapped_transpose", "XLA", "");
    is("gemm_fusion_dot_5", "XLA", "");
    is("loop_over_cells(float*)", "user", "");
    is("wrapped_up(int)", "user", "");
}

TEST(kernel_names, of_the_program) {
    is("", "user", "");
    is("void ", "user", "");
    is("scale", "user", "");
    is("epilogue", "user", "");
    is("fft2d", "user", "");
    is("void scale<double>(double*)", "user", "");
    is("KeBilinearInterpFw", "user", "");
    is("mandelbrot_884", "user", "");
    is("my_h8840_thing", "user", "");                    /* not that number */
    is("apply(cudnnTensorStruct, cublas*)", "user", ""); /* arguments are not the name */
    is("(anonymous namespace)::scale(cudnnHandle)", "user", "");
    is("my_trt", "user", "");
    is("strategy_at::begin", "user", ""); /* ^: the begin alone */
    is("hash884", "user", "");
    is("fill_uint8", "user", "");
    is("hgemm_mine", "user", "");
}

TEST(kernel_names, are_any_bytes) {
    char name[70];
    for (unsigned i = 0; i < 256; ++i) {
        memset(name, (int)i, sizeof name);
        for (size_t length = 0; length <= sizeof name; length += 35) {
            CHECK_STR_EQ(kernel_lib(name, length), "user");
            CHECK_STR_EQ(kernel_precision(name, length), "");
        }
    }
    CHECK_STR_EQ(kernel_precision("x_h884", 5), ""); /* the length counts, there is no NUL */
}
