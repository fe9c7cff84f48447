package quiet

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
	want := fmt.Sprintf("stole more than %.0f%% of the CPU time or, on vCPUs that share cores, other processes used more than %.0f%%", 100*maxSteal, 100*maxShared)
	if !strings.Contains(string(content), want) {
		t.Errorf("the reference does not say %q", want)
	}
}
