package translate

import (
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

func TestSelector(t *testing.T) {
	t.Run("errors can be sent, even if they quote invalid UTF-8", func(t *testing.T) {
		_, err := Selector("app \xac")
		if message := status.Convert(err).Message(); status.Code(err) != codes.InvalidArgument || !utf8.ValidString(message) || !strings.Contains(message, "label_selector is not") {
			t.Errorf("%v, %q", err, message)
		}
	})
}

// A selector that is accepted means the same when it is written and read again.
func FuzzSelector(f *testing.F) {
	for _, text := range []string{"", "app=web,tier!=cache", "a in (b, c),!d", "a>1,b notin (c)", "0 \xac"} {
		f.Add(text, "app", "web")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		var selector labels.Selector
		var err error
		footprint.CheckAllocated(t, len(text), func() { selector, err = Selector(text) })
		if err != nil {
			return
		}
		again, err := Selector(selector.String())
		if err != nil {
			t.Fatalf("%q becomes %q: %v", text, selector, err)
		}
		if set := (labels.Set{key: value}); selector.Matches(set) != again.Matches(set) {
			t.Errorf("%q and %q differ for %v", selector, again, set)
		}
	})
}
