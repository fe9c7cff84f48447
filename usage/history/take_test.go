package history

import (
	"testing"
	"time"
)

func TestTake(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	other := web
	other.Name = "other"
	from.cpu(slow, began.Add(time.Hour), 100)
	to.cpu(slow, began, 9000)
	if err := to.Record(other, Sample{Pod: slow, At: began, Usage: 100}, began); err != nil {
		t.Fatal(err)
	}
	want := from.State(web)
	to.Take(from.History)
	if got := to.State(web); got != want {
		t.Error("the history of the container was not replaced")
	}
	if all := to.Containers(); len(all) != 2 || len(from.Containers()) != 0 {
		t.Errorf("%v, and %v remain", all, from.Containers())
	}
	if !to.newest.Equal(began.Add(time.Hour)) {
		t.Errorf("the newest sample is of %v", to.newest)
	}
}
