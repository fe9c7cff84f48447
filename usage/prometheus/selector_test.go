package prometheus

import (
	"strings"
	"testing"
)

func TestSelector(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		" ":                             "",
		`a="b"`:                         `a="b",`,
		`a="b",`:                        `a="b",`,
		` a = "b" , c=~"d.*"`:           `a="b",c=~"d.*",`,
		`a!="b",c!~"d|e"`:               `a!="b",c!~"d|e",`,
		"a=`b\\c`":                      `a="b\\c",`,
		`a=""`:                          `a="",`,
		`a="} or vector(1) #"`:          `a="} or vector(1) #",`,
		`a="\"} or vector(1) or {b=\""`: `a="\"} or vector(1) or {b=\"",`,
		`a="ü\n"`:                       `a="ü\n",`,
	} {
		if got, err := parseSelector(text); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"a":                       "is not a matcher",
		"a=b":                     "the value of a is not in double quotes",
		"a='b'":                   "the value of a is not in double quotes",
		`a="b`:                    "the value of a is not in double quotes",
		`{a="b"}`:                 "is not a matcher",
		`a="b"}`:                  "a comma is missing",
		`a="b" c="d"`:             "a comma is missing",
		`a="b",,`:                 "is not a matcher",
		`a=="b"`:                  "is not in double quotes",
		`1a="b"`:                  "is not a matcher",
		`a=~"("`:                  "the value of a: error parsing regexp",
		`a=~"b)|(c"`:              "the value of a: error parsing regexp",
		`__name__="up"`:           "__name__ cannot be selected",
		strings.Repeat("x", 9999): "is not a matcher",
	} {
		if got, err := parseSelector(text); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 2*longest {
			t.Errorf("%.99s is %s, %v; want %q", text, got, err, want)
		}
	}
}
