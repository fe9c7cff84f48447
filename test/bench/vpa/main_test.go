package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// TestDocumentation checks the figures in the documentation: those of generated machines.
func TestDocumentation(t *testing.T) {
	var out bytes.Buffer
	color := print.ColorAuto
	cmd := newCommand(print.Output{IOStreams: genericiooptions.IOStreams{In: os.Stdin, Out: &out, ErrOut: os.Stderr}, Color: &color})
	cmd.SetArgs(nil)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/design/usage.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "    " + strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "\n    ") + "\n"
	if !strings.Contains(string(text), table) {
		t.Errorf("docs/design/usage.md does not have the output of \"make backtest\":\n%s", table)
	}
}
