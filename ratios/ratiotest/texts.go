package ratiotest

// Texts are labels or annotations of a test.
type Texts map[string]string

// Lookup implements ratios.Texts.
func (t Texts) Lookup(key string) (value string, ok bool) {
	value, ok = t[key]
	return value, ok
}
