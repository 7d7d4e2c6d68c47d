/** Where an answer is not like the service's. */
export const perhapsBetween = 'Something between svc and the service may have answered. Try again, or run: svc doctor';
