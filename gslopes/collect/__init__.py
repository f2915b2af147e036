"""Collecting photos of people at work, politely and lawfully: lists of searches, sources, safe downloads, duplicates.

Source: Joo & Kärkkäinen 2020, §4.2: 129 job titles, searched for with six demographic keywords and without.
"""
