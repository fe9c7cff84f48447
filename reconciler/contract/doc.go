// Package contract defines every string that other systems can see or write: annotation
// keys, reasons, the names of the server's objects and the field manager. A string that is
// not here is not part of the contract, and no other package may repeat one of these strings.
//
// The package must not depend on how the strings are used: it imports no other package
// of the project.
package contract
