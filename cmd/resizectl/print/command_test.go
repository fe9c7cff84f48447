package print

import (
	"strings"
	"testing"
)

func TestCommandOf(t *testing.T) {
	known := map[string]Command{"POD": Argument("web-0"), "NAMESPACE": Argument("shop"), "NODE": Argument("-x"), "TYPE": Argument("a 'b' $(c)"), "SCOPE": {"-n", "shop"}}
	o := &Output{Commands: func(text string) string { return strings.ReplaceAll(text, "kubectl ", "kubectl --context='x' ") }}
	for format, want := range map[string]string{
		"kubectl delete pod POD -n NAMESPACE":            "kubectl --context='x' delete pod web-0 -n shop",
		"resizectl resume SCOPE --kind breaker":          "resizectl resume -n shop --kind breaker",
		"kubectl get pod -l reason=NodeOverloaded":       "kubectl --context='x' get pod -l reason=NodeOverloaded",
		"resizectl ratios suggest TYPE":                  `resizectl ratios suggest 'a '\''b'\'' $(c)'`,
		"kubectl describe node NODE":                     "",
		"resizectl ratios set TYPE=CPU/MEMORY --create":  "",
		"resizectl config validate -f FILE":              "",
		"kubectl annotate pod POD workload-resizer.io/-": "kubectl --context='x' annotate pod web-0 workload-resizer.io/-",
	} {
		got := ""
		if c := CommandOf(format, known); c != nil {
			got = o.Command(c)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", format, got, want)
		}
	}
}

func TestArgument(t *testing.T) {
	for name, want := range map[string]bool{"web-0": true, "a b": true, "": false, "-A": false, "--server=evil": false, "a\u202eb": false, "a\nb": false, "a\x1bb": false} {
		if got := Argument(name) != nil; got != want {
			t.Errorf("%q is an argument: %t", name, got)
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{"a\x1b[31m\tb\nc": "a [31m b\nc", "a\u202eb\u2066c\ufeff": "abc", "a\u2028b": "a b", "überall → ✓": "überall → ✓"} {
		if got := Printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
