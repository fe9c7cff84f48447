package intake

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestReference(t *testing.T) {
	content, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("in the last %.0f days, and for %.0f minutes those that it has told to measure", measuredTime.Hours()/24, claimTime.Minutes())
	if !strings.Contains(strings.Join(strings.Fields(string(content)), " "), want) {
		t.Errorf("the reference does not say %q", want)
	}
}
