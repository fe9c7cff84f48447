package history

import (
	"testing"
	"time"
)

func TestFollow(t *testing.T) {
	f := newFixture(t)
	f.Follow(web, Version{1, began})
	if f.Len() != 0 {
		t.Error("a version is a history")
	}
	f.cpu(slow, began, 100)
	later := began.Add(time.Hour)
	for _, step := range []struct {
		name       string
		note, want Version
	}{
		{"an unknown version is none", Version{0, began}, Version{}},
		{"the first version has not changed", Version{1, began}, Version{Hash: 1}},
		{"the same version has not changed", Version{1, later}, Version{Hash: 1}},
		{"another version has changed since its first pod", Version{2, later}, Version{2, later}},
		{"its first pod may be gone", Version{2, later.Add(time.Hour)}, Version{2, later}},
		{"an unknown version changes nothing", Version{0, began}, Version{2, later}},
		{"a version that returns has changed since its own first pod", Version{1, began}, Version{1, began}},
	} {
		f.Follow(web, step.note)
		if view, _ := f.View(web, later); view.Version != step.want {
			t.Errorf("%s: %+v, want %+v", step.name, view.Version, step.want)
		}
	}
}
