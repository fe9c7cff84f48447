// Package objects shows objects of the API. A noun describes its objects once, as a Kind: their
// names and the columns of their rows. The verbs list, get and watch are the same for all kinds:
// their formats and flags, sorting, what an empty answer says, and events as they arrive. A Page is
// one answer as text, and Table the rows of everything else.
//
// It must not know any noun. Commands whose answers are neither do not use the verbs: plan
// prints plans while they arrive, usage and usage savings print sums over what the server lists, writes
// ask for confirmation, and a check asks several servers.
package objects
