// Package objects shows objects of the API. A noun describes its objects once, as a Kind: their
// names and the columns of their rows. The verbs list, get and watch are the same for all kinds:
// their formats and flags, sorting, what an empty answer says, and events as they arrive.
//
// It must not know any noun. Commands whose answers are no list of objects do not use it: plan
// prints plans while they arrive, usage and usage savings print sums over what the server lists,
// and an explanation, a status or a check is text.
package objects
