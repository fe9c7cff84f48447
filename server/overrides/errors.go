package overrides

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/override"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// tableError means that the layers do not make a valid table.
type tableError struct{ err error }

func (e *tableError) Error() string { return strings.ReplaceAll(e.err.Error(), "\n", ": ") }

// staleRatioError means that the ratio in effect has changed since the caller read it.
type staleRatioError struct{ nodeType, etag string }

func (e *staleRatioError) Error() string {
	return fmt.Sprintf("the ratio of node type %q has changed since its etag was read: read it again before you change it", e.nodeType)
}

// partError is a fault of one request of a batch. The prefix precedes the names of its
// fields.
type partError struct {
	prefix string
	fault  *override.FieldError
}

func (e *partError) Error() string { return e.prefix + e.fault.Error() }

// overrideError translates an error of the store of overrides. Fields are named as in a request
// for one override.
func overrideError(err error) error {
	var etag *override.EtagError
	var stale *staleRatioError
	var newer *override.NewerChangeError
	var kept *override.NotKeptError
	var none *override.NoOverrideError
	var unknown *override.UnknownError
	var field *override.FieldError
	var part *partError
	var full *override.FullError
	var table *tableError
	var implausible *implausibleError
	switch {
	case errors.As(err, &etag):
		return mismatch(err, map[string]string{"nodeType": etag.NodeType, "etag": etag.Etag})
	case errors.As(err, &stale):
		return mismatch(err, map[string]string{"nodeType": stale.nodeType, "ratioEtag": stale.etag})
	case errors.As(err, &newer):
		return mismatch(err, map[string]string{"newestChange": strconv.FormatInt(newer.Newest, 10)})
	case errors.As(err, &kept):
		return rpcerror.New(rpcerror.ChangeNotKept, err.Error())
	case errors.As(err, &none):
		return rpcerror.NotFound(rpcerror.NoOverride, "override", none.NodeType, err.Error())
	case errors.As(err, &unknown):
		return rpcerror.NotFound(rpcerror.NodeTypeUnknown, "node type", unknown.NodeType, err.Error())
	case errors.As(err, &part):
		return rpcerror.BadFields(fieldViolations(part.prefix, part.fault))
	case errors.As(err, &field):
		return rpcerror.BadFields(fieldViolations("", field))
	case errors.As(err, &full):
		return rpcerror.New(rpcerror.TooManyOverrides, err.Error())
	case errors.As(err, &implausible):
		return rpcerror.New(rpcerror.ImplausibleRatio, err.Error())
	case errors.As(err, &table):
		return rpcerror.New(rpcerror.BaselineInUse, fmt.Sprintf("the ratio is in use, and no other source has a ratio for the node type: %v", err))
	case errors.Is(err, override.ErrReadOnly):
		return rpcerror.New(rpcerror.ReadOnly, err.Error())
	}
	return translate.DocumentError(err, translate.DocumentReasons{
		Missing: rpcerror.OverridesMissing, Invalid: rpcerror.OverridesInvalid, Refused: rpcerror.OverridesRefused, NotReady: rpcerror.OverridesNotReady,
	})
}

// mismatch returns the error for a caller that does not know the current state, which is in
// the metadata.
func mismatch(err error, metadata map[string]string) error {
	return rpcerror.WithMetadata(rpcerror.EtagMismatch, err.Error(), metadata)
}

// requestFields maps fields of an override to fields of a request.
var requestFields = map[string]string{
	"nodeType": "override.node_type", "cpuPerf": "override.cpu_perf", "memPerf": "override.memory_perf", "expireTime": "override.expire_time", "requestID": "request_id",
}

func fieldViolations(prefix string, faults ...*override.FieldError) []rpcerror.Violation {
	var all []rpcerror.Violation
	for _, fault := range faults {
		field, ok := requestFields[fault.Field]
		if !ok {
			field = fault.Field
		}
		all = append(all, rpcerror.Violation{Field: prefix + field, Problem: fault.Problem})
	}
	return all
}
