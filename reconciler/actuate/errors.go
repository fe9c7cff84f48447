package actuate

import (
	"errors"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// StoppedError means that the rest of a plan must not be executed. Nothing has
// failed.
type StoppedError struct{ Because string }

func (e *StoppedError) Error() string { return "stopped before a write: " + e.Because }

// RefusedError means that the API server refuses a resize for a reason of the contract.
type RefusedError struct {
	Reason contract.Reason
	Err    error
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// UnannotatedError means that the pod has its new sizes, and only the record of what was
// applied is missing.
type UnannotatedError struct{ Err error }

func (e *UnannotatedError) Error() string { return e.Err.Error() }
func (e *UnannotatedError) Unwrap() error { return e.Err }

// MutatedError means that the API server has stored sizes other than those of a resize. Nobody has
// written the pod in between, so admission has changed them. Which plugin, policy or webhook did, is
// not recorded anywhere.
type MutatedError struct{ How string }

func (e *MutatedError) Error() string {
	return "resize: an admission policy or webhook changes it: " + e.How
}

// BusyError is an error of an API server that asks the client to retry later.
type BusyError struct {
	Err   error
	Asked time.Duration
}

func (e *BusyError) Error() string { return e.Err.Error() }
func (e *BusyError) Unwrap() error { return e.Err }

// Asked returns how long the API server asks the client to wait before it retries; 0 if it does not.
func Asked(err error) time.Duration {
	var busy *BusyError
	if errors.As(err, &busy) {
		return busy.Asked
	}
	return 0
}

// busy adds the Retry-After of the API server, if any, to an error.
func busy(err error, asked time.Duration) error {
	if err == nil || asked == 0 {
		return err
	}
	return &BusyError{Err: err, Asked: asked}
}

// refusal returns the reason of the contract that an API server's answer to a resize
// names, and whether there is one.
func refusal(err error) (contract.Reason, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "", false
	}
	s := status.Status()
	switch s.Code {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		// An API server without the subresource does not look for the pod: its
		// answer is not an API object, or does not name one.
		without := s.Details == nil || s.Details.Name == "" || apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
		return contract.ResizeUnsupported, without
	case http.StatusUnprocessableEntity, http.StatusForbidden:
		return safety.Refusal(s.Message)
	}
	return "", false
}

// Outdated reports whether an error only means that the plan was made from an outdated
// state.
func Outdated(err error) bool {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == "metadata.uid" {
			return true // The name belongs to another pod now.
		}
	}
	return false
}

// Denied reports whether the API server has decided against a write, so that it would decide the same
// about the same write until something changes. A missing right is not about the write.
func Denied(err error) bool {
	switch StatusCode(err) {
	case http.StatusForbidden:
		return !Outdated(err) && !MissingRight(err)
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusMethodNotAllowed:
		return !Outdated(err)
	}
	return false
}

// MissingRight reports whether the API server forbids a request because a right is missing: that concerns all pods, and a right is
// granted without notice. Admission may forbid a request for one pod, with the same status, and any text of its own after that of
// the API server.
func MissingRight(err error) bool {
	var status apierrors.APIStatus
	if StatusCode(err) != http.StatusForbidden || !errors.As(err, &status) {
		return false
	}
	_, because, _ := strings.Cut(status.Status().Message, " is forbidden: ")
	return strings.HasPrefix(because, `User "`)
}

// Mutated reports whether the API server has stored sizes other than those of a resize.
func Mutated(err error) bool {
	var mutated *MutatedError
	return errors.As(err, &mutated)
}

// StatusCode returns the HTTP status code of a response; 0 if there was none.
func StatusCode(err error) int {
	if err == nil || Mutated(err) {
		return http.StatusOK
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}
