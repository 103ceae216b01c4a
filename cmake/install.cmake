# Where things lie under the prefix: bin/ingot, lib/ingot (its modules, and what a package brings of
# other libraries), share. `cmake --install build/cpu --prefix P --strip`; packaging/package.py makes
# packages of it. Relative run paths, so that the prefix may be moved.
set(pythons 3.10 3.11 3.12 3.13 3.14)
set(folders "$ORIGIN/../lib/ingot")
# NVIDIA's libraries are in no package: pip puts them beside the wheel's program, an installed CUDA has them here.
if(INGOT_CUDA)
  foreach(python ${pythons})
    foreach(library cu13 cudnn nccl)
      list(APPEND folders "$ORIGIN/../lib/python${python}/site-packages/nvidia/${library}/lib")
    endforeach()
  endforeach()
  list(APPEND folders /usr/local/cuda/lib64)
endif()
set_target_properties(ingot PROPERTIES INSTALL_RPATH "${folders}")
install(TARGETS ingot RUNTIME)
foreach(module ingot_http ingot_regex ingot_sentencepiece ingot_mpi ingot_arrow)
  if(TARGET ${module})
    set_target_properties(${module} PROPERTIES INSTALL_RPATH "$ORIGIN")  # or the machine's
    install(TARGETS ${module} LIBRARY DESTINATION lib/ingot)
  endif()
endforeach()
# Where `pip install ingot[arrow]` puts Arrow.
if(TARGET ingot_arrow)
  set(folders "$ORIGIN")
  foreach(python ${pythons})
    list(APPEND folders "$ORIGIN/../python${python}/site-packages/pyarrow")
  endforeach()
  set_target_properties(ingot_arrow PROPERTIES INSTALL_RPATH "${folders}")
endif()
install(FILES LICENSE NOTICE CHANGELOG.md DESTINATION share/doc/ingot)
install(DIRECTORY recipes DESTINATION share/ingot)
