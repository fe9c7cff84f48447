package pages

import (
	"regexp"
	"strings"
	"testing"
)

// TestKept checks that what people fill in has a key, and so stays while parts of a page before it come and go.
func TestKept(t *testing.T) {
	forms := 0
	for name, of := range templates {
		for _, form := range regexp.MustCompile(`<form[^>]*>`).FindAllString(of.Lookup("page").Tree.Root.String(), -1) {
			if forms++; !strings.Contains(form, `data-key="filter"`) {
				t.Errorf("%s: %s has no key", name, form)
			}
		}
	}
	if forms != 5 {
		t.Errorf("%d forms", forms)
	}
	for _, want := range []string{`<main id="main" `, `>{{template "region" .Region}}</main>`} {
		if got := templates["missing"].Lookup("layout").Tree.Root.String(); !strings.Contains(got, want) {
			t.Errorf("the layout has no %s: %s", want, got)
		}
	}
	if got := templates["missing"].Lookup("region").Tree.Root.String(); !strings.HasPrefix(got, `<div id="view"`) || !strings.Contains(got, `data-key="problem"`) {
		t.Errorf("the region is %s", got)
	}
}
