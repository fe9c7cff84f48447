package sizing

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// ParseCPU parses a quantity such as "800m" and returns it in millicores. The error says
// what is wrong with the text, e.g. `"x" is not a quantity`.
func ParseCPU(text string) (int64, error) {
	if n, suffix, ok := plain(text); ok {
		switch suffix {
		case "":
			if n <= mostCores {
				return n * 1000, nil
			}
		case "m":
			return n, nil
		}
	}
	return parse(text, Millicores)
}

// ParseMemory is like ParseCPU, for a quantity such as "1Gi" in bytes.
func ParseMemory(text string) (int64, error) {
	if n, suffix, ok := plain(text); ok {
		shift := -1
		switch suffix {
		case "":
			shift = 0
		case "Ki":
			shift = 10
		case "Mi":
			shift = 20
		case "Gi":
			shift = 30
		}
		if shift >= 0 && n <= mostBytes>>shift {
			return n << shift, nil
		}
	}
	return parse(text, Bytes)
}

// plain splits a quantity of the most common form, a short whole number and a suffix. It
// exists for speed: planning reads many quantities.
func plain(text string) (n int64, suffix string, ok bool) {
	i := 0
	for i < len(text) && i < 12 && '0' <= text[i] && text[i] <= '9' {
		n = n*10 + int64(text[i]-'0')
		i++
	}
	return n, text[i:], i > 0
}

func parse(text string, read func(*resource.Quantity) (int64, bool)) (int64, error) {
	if !Plausible(text) {
		return 0, fmt.Errorf("%.64q is not a quantity with at most 64 characters and a two-digit exponent", text)
	}
	q, err := Quantity(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a quantity", text)
	}
	amount, ok := read(&q)
	switch {
	case q.Sign() < 0:
		return 0, fmt.Errorf("%q is negative", text)
	case !ok:
		return 0, fmt.Errorf("%q is more than any machine has", text)
	}
	return amount, nil
}

// Quantity is resource.ParseQuantity for text that others write. It rejects what is not Plausible.
func Quantity(text string) (resource.Quantity, error) {
	if !Plausible(text) {
		return resource.Quantity{}, resource.ErrFormatWrong
	}
	return resource.ParseQuantity(text)
}

// Plausible reports whether ParseQuantity reads the text quickly. For 1e99999999, it would
// take minutes and gigabytes.
func Plausible(text string) bool {
	exponent := strings.IndexAny(text, "eE")
	return len(text) <= 64 && (exponent < 0 || len(text)-exponent <= len("e-99"))
}
