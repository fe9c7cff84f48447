package pages

import (
	"net/url"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/rows"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/workloads"
)

// TestOrders checks that workloads can be shown in each order of the command line, under words for people.
func TestOrders(t *testing.T) {
	for i, word := range workloads.Orders {
		q := (rows.Query{}).By(word)
		if got := rows.Parse(q.Values()); got != q && i > 0 {
			t.Errorf("%s is read as %+v, want %+v", word, got, q)
		}
		if o := orders(q)[i]; !o.Chosen || o.Name == word || o.Value != q.Values().Get("order") {
			t.Errorf("%s is shown as %+v", word, o)
		}
	}
	if got := orders(rows.Parse(url.Values{}))[0]; !got.Chosen || got.Value != "" {
		t.Errorf("the default is shown as %+v", got)
	}
}
