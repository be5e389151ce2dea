# SPDX-License-Identifier: Apache-2.0
#
# Tests of the back end over the runtime API, if a toolkit has its headers, whatever the library
# itself is built with. They use a double of that API, which calls the driver's double, and the real
# cudart.

if(CUDAToolkit_FOUND AND EXISTS "${CUDAToolkit_INCLUDE_DIR}/cuda_profiler_api.h")
    stint_add_fake(stint_fake_cudart cudart LIKE stint_fake EXCEPT gpu session)

    foreach(name IN ITEMS cudart timer)
        set(target stint_gpu_${name}_over_cudart)
        stint_add_test(TARGET ${target} PREFIX cudart.
            SOURCES "${CMAKE_CURRENT_LIST_DIR}/${name}_test.c"
                $<TARGET_OBJECTS:stint_cudart_double>
            LIBS stint_fake_cudart stint_cuda_double Threads::Threads LABELS unit)
        target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
        target_compile_definitions(${target} PRIVATE TEST_CUDART)
    endforeach()

    stint_add_test(TARGET stint_gpu_cudart_real PREFIX cudart.
        SOURCES "${CMAKE_CURRENT_LIST_DIR}/cudart_real_test.c"
        LIBS stint_fake_cudart CUDA::cudart Threads::Threads ${CMAKE_DL_LIBS} LABELS unit)
    if(STINT_CUDA_STUB)
        set(stub "${CMAKE_CURRENT_BINARY_DIR}/stub")
        file(MAKE_DIRECTORY "${stub}")
        file(CREATE_LINK "${STINT_CUDA_STUB}" "${stub}/libcuda.so.1" SYMBOLIC)
        add_test(NAME cudart.gpu_cudart_real.without_a_driver.stub
            COMMAND stint_gpu_cudart_real gpu_cudart_real.without_a_driver)
        set_tests_properties(cudart.gpu_cudart_real.without_a_driver.stub PROPERTIES
            LABELS unit TIMEOUT 330 ENVIRONMENT "LD_LIBRARY_PATH=${stub}")
    endif()
endif()
