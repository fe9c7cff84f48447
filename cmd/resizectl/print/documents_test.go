package print

import (
	"strings"
	"testing"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestDocument checks that the fields of messages are joined in their order, as the API writes them.
func TestDocument(t *testing.T) {
	first := &workloadresizerv1.GetRatioRequest{NodeType: "a < b & c"}
	second := &workloadresizerv1.PlanReason{Code: "HostPressure", Message: "> 1"}
	for _, tc := range []struct {
		format Format
		want   string
	}{
		{FormatJSON, "{\n  \"nodeType\": \"a < b & c\",\n  \"rule\": \"\",\n  \"code\": \"HostPressure\",\n  \"message\": \"> 1\"\n}\n"},
		{FormatYAML, "code: HostPressure\nmessage: '> 1'\nnodeType: a < b & c\nrule: \"\"\n"},
	} {
		var out strings.Builder
		if err := Document(&out, tc.format, first, second, &workloadresizerv1.GetRatioRequest{NodeType: "not shown"}); err != nil || out.String() != tc.want {
			t.Errorf("%s: got %q, %v, want %q", tc.format, out.String(), err, tc.want)
		}
	}
}
