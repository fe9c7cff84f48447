package rules

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// A request is decoded and checked with little memory, whatever its bytes are.
func FuzzRequests(f *testing.F) {
	checker, kinds := New(), requests()
	for i := range kinds {
		f.Add(uint(i), []byte{})
		f.Add(uint(i), []byte("\x0a\x02n4\x12\x03a/b"))
	}
	f.Fuzz(func(t *testing.T, kind uint, content []byte) {
		typ, err := protoregistry.GlobalTypes.FindMessageByName(kinds[kind%uint(len(kinds))].FullName())
		if err != nil {
			t.Fatal(err)
		}
		footprint.CheckAllocated(t, len(content), func() {
			if request := typ.New().Interface(); proto.Unmarshal(content, request) == nil {
				_ = checker.Check(request)
			}
		})
	})
}
