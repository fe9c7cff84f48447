// Command mutate tells how well packages are tested: gremlins changes their code in
// one place at a time, and the package's tests are to fail of each change.
//
//	mutate [--gremlins FILE] [--equivalent FILE] [--workers N] PACKAGE...
//
// A change that no test notices is a survivor. It makes mutate fail, unless the list of
// equivalent mutants says why no test can tell it from the code.
//
// Gremlins alone is too kind: it does not try what coverage does not tell of, such as
// the expressions of cases and of constants, it takes what does not compile for killed,
// and it leaves out of its figures what runs into its timeout. So gremlins is run
// on a copy of the module, and with a "go" of ours: goCommand.
package main
