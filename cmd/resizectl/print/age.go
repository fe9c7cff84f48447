package print

import (
	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Age returns how long ago something was, as kubectl prints it, e.g. "20d".
func (o *Output) Age(t *timestamppb.Timestamp) string {
	if t == nil {
		return Absent
	}
	return duration.HumanDuration(max(0, o.Now().Sub(t.AsTime())))
}
