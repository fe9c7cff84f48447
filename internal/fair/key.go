package fair

// Key names a caller at each level, from wide to narrow. A part that does not exist is empty, and
// has no limit of its own.
type Key struct {
	// Origin is where accounts come from that one person may have created, such as a namespace, or
	// the network address of callers that are not known yet.
	Origin string
	// Account is the user, and Credential is what it has identified itself by.
	Account, Credential string
}

// Level is a part of a Key.
type Level int

// Levels, from wide to narrow. All is everybody.
const (
	All Level = iota
	Origin
	Account
	Credential
	levels
)

// prefix returns a key without the parts that are narrower than a level.
func (k Key) prefix(l Level) Key {
	switch l {
	case All:
		return Key{}
	case Origin:
		return Key{Origin: k.Origin}
	case Account:
		return Key{Origin: k.Origin, Account: k.Account}
	}
	return k
}

// has reports whether a key has a part at a level.
func (k Key) has(l Level) bool {
	return [levels]bool{true, k.Origin != "", k.Account != "", k.Credential != ""}[l]
}
