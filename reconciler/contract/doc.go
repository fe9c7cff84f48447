// Package contract holds every string that other systems can see or write:
// annotation keys, reasons, field manager. A string that is not here is not
// part of the contract, and no other package may spell one of these out.
//
// It must not know what is decided with them: it imports nothing of the
// project.
package contract
