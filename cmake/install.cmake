# Where things lie under the prefix: bin/ingot, lib/ingot (its modules, and what a package brings of
# other libraries), share. `cmake --install build/cpu --prefix P --strip`; packaging/package.py makes
# packages of it. Relative run paths, so that the prefix may be moved.
set_target_properties(ingot PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/ingot")
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
  foreach(python 3.10 3.11 3.12 3.13 3.14)
    list(APPEND folders "$ORIGIN/../python${python}/site-packages/pyarrow")
  endforeach()
  set_target_properties(ingot_arrow PROPERTIES INSTALL_RPATH "${folders}")
endif()
install(FILES LICENSE NOTICE CHANGELOG.md DESTINATION share/doc/ingot)
install(DIRECTORY recipes DESTINATION share/ingot)
