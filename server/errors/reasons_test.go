package errors

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
)

// named matches, for example, "NOT_FOUND (reason A, B or C)", and a further reason of the
// same code in "(reason A, B or C)".
var named = regexp.MustCompile(`(?:([A-Z_]+) \(|\(|\b)reason ([A-Z][A-Z_]+(?:(?:, or | or |, )[A-Z][A-Z_]+)*)`)

var word = regexp.MustCompile(`[A-Z][A-Z_]+`)

// documented returns the reasons that comments name, with the codes next to them: those in
// the description of the package, and all others.
func documented(t *testing.T) (general, own map[string][]string) {
	t.Helper()
	files, err := filepath.Glob("../../proto/workloadresizer/v1/*.proto")
	if err != nil || len(files) == 0 {
		t.Fatalf("the proto files are %v, %v", files, err)
	}
	general, own = map[string][]string{}, map[string][]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, ok := strings.Cut(string(content), "\npackage ")
		if !ok {
			t.Fatalf("%s has no package", file)
		}
		find(general, head)
		find(own, rest)
	}
	return general, own
}

func find(into map[string][]string, text string) {
	var comments []string
	for line := range strings.Lines(text) {
		if comment, ok := strings.CutPrefix(strings.TrimSpace(line), "//"); ok {
			comments = append(comments, strings.TrimSpace(comment))
		} else {
			comments = append(comments, ".")
		}
	}
	for _, m := range named.FindAllStringSubmatch(strings.Join(comments, " "), -1) {
		for _, reason := range word.FindAllString(m[2], -1) {
			into[reason] = append(into[reason], m[1])
		}
	}
}

func TestReasons(t *testing.T) {
	t.Run("the API documents every reason", theAPIDocumentsEveryReason)
	t.Run("an error has the code of its reason", anErrorHasTheCodeOfItsReason)
	t.Run("the code determines the other details of an error", theCodeDeterminesTheOtherDetailsOfAnError)
}

func theAPIDocumentsEveryReason(t *testing.T) {
	general, own := documented(t)
	var wantGeneral, wantOwn []string
	byName := map[string]*Reason{}
	for _, r := range Reasons() {
		if byName[r.String()] != nil {
			t.Errorf("%s exists twice", r)
		}
		if (r.Code() == codes.FailedPrecondition) != (r.subject != "") {
			t.Errorf("%s with %s has the subject %q", r, r.Code(), r.subject)
		}
		if r.Code() == codes.OK || r.Meaning() == "" || strings.Contains(r.Meaning(), "|") {
			t.Errorf("%s with %s has the meaning %q", r, r.Code(), r.Meaning())
		}
		if byName[r.String()] = r; r.General() {
			wantGeneral = append(wantGeneral, r.String())
		} else {
			wantOwn = append(wantOwn, r.String())
		}
	}
	slices.Sort(wantGeneral)
	slices.Sort(wantOwn)
	if diff := cmp.Diff(wantGeneral, slices.Sorted(maps.Keys(general))); diff != "" {
		t.Errorf("the description of the package names (-want +got): %s", diff)
	}
	if diff := cmp.Diff(wantOwn, slices.Sorted(maps.Keys(own))); diff != "" {
		t.Errorf("the descriptions of methods name (-want +got): %s", diff)
	}
	for _, found := range []map[string][]string{general, own} {
		for name, beside := range found {
			r := byName[name]
			for _, code := range beside {
				if r != nil && code != "" && code != r.CodeName() {
					t.Errorf("%s is documented with %s, but has the code %s", name, code, r.CodeName())
				}
			}
		}
	}
}

func TestFind(t *testing.T) {
	got := map[string][]string{}
	find(got, "// ABORTED (reason A_B, C_D\n  // or E_F) if G_H, or UNAVAILABLE\n// (reason I_J), or (reason K_L): reason M_N.\n  rpc O_P\n// reasons Q_R")
	want := map[string][]string{"A_B": {"ABORTED"}, "C_D": {"ABORTED"}, "E_F": {"ABORTED"}, "I_J": {"UNAVAILABLE"}, "K_L": {""}, "M_N": {""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func anErrorHasTheCodeOfItsReason(t *testing.T) {
	info := func(metadata map[string]string) *errdetails.ErrorInfo {
		return &errdetails.ErrorInfo{Reason: "ETAG_MISMATCH", Domain: "workload-resizer.io", Metadata: metadata}
	}
	more := &errdetails.ResourceInfo{ResourceName: "n4"}
	for _, tc := range []struct {
		name string
		err  error
		want []any
	}{
		{"details come after the ErrorInfo", New(EtagMismatch, "why", more), []any{info(nil), more}},
		{"metadata are in the ErrorInfo", WithMetadata(EtagMismatch, "why", map[string]string{"etag": "e"}), []any{info(map[string]string{"etag": "e"})}},
	} {
		s := status.Convert(tc.err)
		if diff := cmp.Diff(tc.want, s.Details(), protocmp.Transform()); diff != "" || s.Code() != codes.Aborted || s.Message() != "why" {
			t.Errorf("%s: %s %q %s", tc.name, s.Code(), s.Message(), diff)
		}
	}
}

func theCodeDeterminesTheOtherDetailsOfAnError(t *testing.T) {
	for _, r := range Reasons() {
		var want []any
		switch r.Code() {
		case codes.Unavailable:
			want = []any{&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)}}
		case codes.FailedPrecondition:
			want = []any{&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{
				{Type: r.String(), Subject: r.subject, Description: "why"},
			}}}
		}
		got := status.Convert(New(r, "why")).Details()[1:]
		if diff := cmp.Diff(want, got, protocmp.Transform(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", r, diff)
		}
	}
}
