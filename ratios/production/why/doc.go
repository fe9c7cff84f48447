// Package why says in words why production does not count workloads, and what a person can do about it. The words are here, and
// not with the reasons, so that programs that only show them need not know how node types are compared.
//
// It must not know anything else: everything here is a table.
package why
