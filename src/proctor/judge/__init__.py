"""From a task and a program to a verdict.

judge                   picks one of these by the kind of the task's tests
stdin, calls            the supervisor compares what the candidate answers
reference_calls         the same; the expected values are the reference solution's answers
assertions              the supervisor compares `call == literal`; other test code runs in an
                        examiner (`live_tests`), or in the candidate's process if it must
unit_tests              test files that share a process with the candidate
test_programs           test programs in other languages that do so
cpp/                    test programs in C++, in a process apart where their values can cross
conversation            every message to and from one candidate, checked
reference_check         a failure counts only if the reference solution does not fail, too
"""
