# SPDX-License-Identifier: Apache-2.0
#
# Read by ctest before it runs tests, which inherit what is set here. Scripts that remove the
# variables STINT_* set it again. A test that wants another value sets it itself.

# Whether a scope is marked as waiting may depend on the load of the machine.
set(ENV{STINT_WAITS} 0)
