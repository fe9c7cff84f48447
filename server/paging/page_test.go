package paging

import (
	"iter"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

var sizes = Sizes{Default: 3, Max: 5}

// feeds returns this many feeds with names from "a" on, after a name.
func feeds(n int, after string) iter.Seq2[string, *workloadresizerv1.Feed] {
	return func(yield func(string, *workloadresizerv1.Feed) bool) {
		for i := range n {
			if name := string(rune('a' + i)); name > after && !yield(name, &workloadresizerv1.Feed{Name: name}) {
				return
			}
		}
	}
}

func names(page []*workloadresizerv1.Feed) string {
	var b strings.Builder
	for _, f := range page {
		b.WriteString(f.GetName())
	}
	return b.String()
}

func TestPage(t *testing.T) {
	t.Run("follows the tokens to the end", followsTheTokensToTheEnd)
	t.Run("a size that is too large is the largest", aSizeThatIsTooLargeIsTheLargest)
	t.Run("ends before it is too large for a message", endsBeforeItIsTooLarge)
	t.Run("a token is valid only for the same request", aTokenIsValidOnlyForTheSameRequest)
}

func followsTheTokensToTheEnd(t *testing.T) {
	request, got := &workloadresizerv1.ListFeedsRequest{}, ""
	for {
		p, err := Of(request, sizes)
		if err != nil {
			t.Fatal(err)
		}
		page, next := Fill(p, feeds(7, p.After))
		got += names(page) + " "
		if next == "" {
			break
		}
		request.PageToken = next
	}
	if got != "abc def g " {
		t.Errorf("pages %q", got)
	}
	if _, next := Fill(Page{size: 7}, feeds(7, "")); next != "" {
		t.Error("a full last page has a token")
	}
}

func aSizeThatIsTooLargeIsTheLargest(t *testing.T) {
	for asked, want := range map[int32]string{0: "abc", 2: "ab", 5: "abcde", 6: "abcde", 1 << 30: "abcde"} {
		p, err := Of(&workloadresizerv1.ListFeedsRequest{PageSize: asked}, sizes)
		if page, _ := Fill(p, feeds(9, "")); err != nil || names(page) != want {
			t.Errorf("%d: %q, %v", asked, names(page), err)
		}
	}
}

func endsBeforeItIsTooLarge(t *testing.T) {
	half := strings.Repeat("x", limits.AnswerBytes/2)
	large := func(yield func(string, *workloadresizerv1.Feed) bool) {
		for _, name := range []string{"a", "b", "c"} {
			if !yield(name, &workloadresizerv1.Feed{Name: half + half}) {
				return
			}
		}
	}
	if page, next := Fill(Page{size: 5}, large); len(page) != 1 || next == "" {
		t.Errorf("%d items, token %q", len(page), next)
	}
}

func aTokenIsValidOnlyForTheSameRequest(t *testing.T) {
	first := &workloadresizerv1.ListResizesRequest{Namespace: "shop", PageSize: 1}
	p, err := Of(first, sizes)
	if err != nil {
		t.Fatal(err)
	}
	_, next := Fill(p, feeds(2, ""))
	if p, err = Of(&workloadresizerv1.ListResizesRequest{Namespace: "shop", PageSize: 2, PageToken: next}, sizes); err != nil || p.After != "a" {
		t.Errorf("with a different size: after %q, %v", p.After, err)
	}
	for name, request := range map[string]Request{
		"a different filter": &workloadresizerv1.ListResizesRequest{Namespace: "other", PageToken: next},
		"a different method": &workloadresizerv1.ListFeedsRequest{PageToken: next},
		"a damaged token":    &workloadresizerv1.ListResizesRequest{Namespace: "shop", PageToken: next + "A"},
		"no token":           &workloadresizerv1.ListResizesRequest{Namespace: "shop", PageToken: "2"},
	} {
		if _, err := Of(request, sizes); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "page_token") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
