package pod

import "iter"

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// valueOf returns the value of a quoted key of a JSON object; nil if the key is missing.
func valueOf(object []byte, key string) []byte {
	for k, value := range members(object) {
		if string(k) == key {
			return value
		}
	}
	return nil
}

// members returns the quoted keys and the values of a JSON object without white space, which
// is how the API server writes managedFields. For other input, it returns fewer members or
// none.
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

// unquoted returns a key without its quotes; the keys that callers look for have no escapes.
func unquoted(key []byte) []byte { return key[1 : len(key)-1] }

// stringEnd returns the end of the quoted string at the start of b.
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

// valueEnd returns the end of the value at the start of b.
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
