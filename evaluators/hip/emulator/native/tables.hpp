// The instructions that are known, by their kinds.
#pragma once
#include "lanes.hpp"

void vector_integer(Table&);
void vector_bits(Table&);
void vector_real(Table&);
void vector_convert(Table&);
void vector_packed(Table&);
void vector_compare(Table&);
void vector_across(Table&);
void scalar_arithmetic(Table&);
void scalar_control(Table&);
void global_memory(Table&);
void lds_memory(Table&);
void matrix(Table&);
