package feed

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// twoMeanings matches a number with a comma or a point that may separate thousands or decimals.
	twoMeanings = regexp.MustCompile(`^([1-9]\d{0,2})[.,](\d{3})$`)
	// decimalComma matches a number such as 0,5 or 1,5E+06.
	decimalComma = regexp.MustCompile(`^\d+,\d+([eE][+-]?\d+)?$`)
	// pointedThousands matches a number such as 1.234,5 or 1.234.567.
	pointedThousands = regexp.MustCompile(`^[1-9]\d{0,2}(\.\d{3})+(,\d+)?$`)
)

// pointed returns a number with a decimal point. Other text, and numbers with two meanings, are
// unchanged.
func pointed(text string) string {
	switch {
	case twoMeanings.MatchString(text):
		return text
	case pointedThousands.MatchString(text):
		text = strings.ReplaceAll(text, ".", "")
	case !decimalComma.MatchString(text):
		return text
	}
	return strings.Replace(text, ",", ".", 1)
}

// pointed returns a record whose numbers have decimal points. Programs that separate columns with
// semicolons or tabs may write numbers as in other languages than English, so that 177,656 has two
// meanings.
func (r record) pointed(numbers []string) (record, *Fault) {
	values := map[string]string{}
	for _, name := range numbers {
		text := r(name)
		if m := twoMeanings.FindStringSubmatch(text); m != nil {
			return nil, &Fault{Field: name, Reason: fmt.Sprintf("%s means %s%s or %s.%s: write %s%s or %s.%s0",
				quoted(text), m[1], m[2], m[1], m[2], m[1], m[2], m[1], m[2])}
		}
		values[name] = pointed(text)
	}
	return func(name string) string {
		if text, ok := values[name]; ok {
			return text
		}
		return r(name)
	}, nil
}
