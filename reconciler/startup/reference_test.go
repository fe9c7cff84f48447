package startup

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestReference(t *testing.T) {
	content, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(content)), " ")
	for _, want := range []string{
		fmt.Sprintf("The leader removes it %.0f seconds after the node is ready", Patience.Seconds()),
		fmt.Sprintf("any other replica does so %.0f seconds later", grace.Seconds()),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the reference does not say %q", want)
		}
	}
}
