// Command mutate measures how well packages are tested: gremlins changes their code in one place
// at a time, and the package's tests must fail for each change.
//
//	mutate [--gremlins FILE] [--equivalent FILE] [--workers N] PACKAGE...
//
// A change that no test detects is a survivor. Survivors make mutate fail, unless the list of
// equivalent mutants explains why no test can distinguish them from the code.
//
// Gremlins alone is too lenient. It does not try code that coverage does not include, such as
// expressions of cases and constants. It counts mutants that do not compile as killed, and
// ignores mutants that time out. mutate therefore runs gremlins on a copy of the module, and
// with its own "go" command: goCommand.
package main
