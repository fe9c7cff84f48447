package pod

import "iter"

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// valueOf returns the value of a key, in quotes, of a JSON object; nil if it has none.
func valueOf(object []byte, key string) []byte {
	for k, value := range members(object) {
		if string(k) == key {
			return value
		}
	}
	return nil
}

// members are the keys, in quotes, and the values of a JSON object without white space,
// as the API server writes managedFields. Of anything else there are none, or fewer.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if !isObject(object) {
			return
		}
		for rest := object[1:]; len(rest) > 0 && rest[0] == '"'; {
			end := stringEnd(rest)
			if end >= len(rest) || rest[end] != ':' {
				return
			}
			key, after := rest[:end], rest[end+1:]
			length := valueEnd(after)
			if !yield(key, after[:length]) {
				return
			}
			rest = after[length:]
			if len(rest) == 0 || rest[0] != ',' {
				return
			}
			rest = rest[1:]
		}
	}
}

// unquoted is a key without its quotes; no key that is looked for has escapes.
func unquoted(key []byte) []byte { return key[1 : len(key)-1] }

// stringEnd is where a string in quotes ends, which b begins with.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// valueEnd is where the value ends that b begins with.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}
