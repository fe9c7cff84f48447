package prometheus

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestVector(t *testing.T) {
	address, _ := localcluster.RecordedPrometheusForTest(t, recorded())
	source := newSource(t, Config{Address: address})
	t.Run("has the elements of a time", func(t *testing.T) {
		const query = `max by (namespace, pod) (container_memory_working_set_bytes{container="main"})`
		for at, want := range map[time.Time]int{began: 1, began.Add(time.Hour): 0} {
			got, err := source.Vector(t.Context(), query, at)
			if err != nil || len(got) != want {
				t.Fatalf("at %v: %v, %v", at, got, err)
			}
			if want == 1 && (got[0].Value != 5e7 || len(got[0].Labels) != 2 || got[0].Labels["pod"] != "web") {
				t.Errorf("%v", got)
			}
		}
	})
	for query, want := range map[string]string{"1": "a scalar instead of a vector", "up[1m]": "a matrix instead of a vector", "sum(": "parse error", "rate(up)": "expected type range vector"} {
		t.Run("is an error for the query "+query, func(t *testing.T) {
			if got, err := source.Vector(t.Context(), query, began); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	// A pod that is missing would look as if it met its objective.
	for field, want := range map[string]string{`"warnings":["no answer from store-1"]`: "store-1", `"isPartial":true`: "isPartial"} {
		t.Run("is an error if some of it may be missing because of "+field, func(t *testing.T) {
			source := answering(t, func(w http.ResponseWriter) {
				_, _ = io.WriteString(w, `{"status":"success",`+field+`,"data":{"resultType":"vector","result":[]}}`)
			})
			if got, err := source.Vector(t.Context(), "up", began); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
