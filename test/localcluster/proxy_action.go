package localcluster

// Action is what becomes of a request.
type Action int

const (
	// Forward lets it through, as if there were no proxy.
	Forward Action = iota
	// ForwardThenCut lets it through and, once the API server has answered,
	// breaks off instead of passing the answer on.
	ForwardThenCut
	// ForwardThenHang lets it through and never answers: the client is still
	// waiting when the test ends it.
	ForwardThenHang
	// CutBefore breaks off, and the API server never hears of it.
	CutBefore
	// HangBefore never answers, and the API server never hears of it.
	HangBefore
	// CutWhileForwarding lets it through and breaks off if it is not over half
	// a second later, as only watches are not.
	CutWhileForwarding
	// ExpireWatch is for watches: all it says is that the resource version is
	// too old (410), so that the client has to list anew.
	ExpireWatch
	// AnswerForbidden and what follows are answers in the API server's stead,
	// which never hears of the request: 403,
	AnswerForbidden
	// AnswerConflict is 409,
	AnswerConflict
	// AnswerInvalid 422,
	AnswerInvalid
	// AnswerTooManyRequests 429, which asks to come again in a second,
	AnswerTooManyRequests
	// AnswerInternalError 500,
	AnswerInternalError
	// AnswerUnavailable 503.
	AnswerUnavailable
)

// String implements fmt.Stringer.
func (a Action) String() string {
	return [...]string{
		"forward", "forward then cut", "forward then hang", "cut before", "hang before", "cut while forwarding",
		"expire watch", "answer 403", "answer 409", "answer 422", "answer 429", "answer 500", "answer 503",
	}[a]
}
